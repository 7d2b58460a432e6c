// The actions of the camera page, by shortcut or button.

import type { RefObject } from 'react'
import { findNextEvent } from '../../model/event-marks.ts'
import { writeFileName } from '../../model/file-name.ts'
import { longestDownloadMs, type Marks, markEnd, markStart, rangeOf } from '../../model/marked-range.ts'
import { fasterThan, slowerThan } from '../../model/player-keys.ts'
import { follow, viewOfDay, zoom } from '../../model/timeline-view.ts'
import type { Zone } from '../../model/zone.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { TimedEvent } from './event-queries.ts'
import { toggleFullScreen } from './full-screen.ts'
import type { useDownload } from './range-panel.tsx'
import { captureImage, saveFile } from './save-image.ts'
import type { Commands } from './use-keys.ts'
import type { Playback } from './use-playback.ts'

export type CommandsOptions = {
  readonly camera: { readonly name: string; readonly has_recording: boolean; readonly audio_enabled: boolean }
  readonly playback: Playback
  readonly zone: Zone
  readonly stage: RefObject<HTMLElement | null>
  readonly events: readonly TimedEvent[]
  readonly marks: Marks
  readonly mark: (marks: Marks) => void
  readonly download: ReturnType<typeof useDownload>
  readonly openDialog: (dialog: 'jump' | 'keys') => void
  readonly say: (text: string) => void
}

const stepMs = 10_000
const farStepMs = 60_000
/** Nothing later than this has been recorded yet. */
const newestMs = 5_000

export function useCommands(options: CommandsOptions): Commands {
  const { camera, playback, zone, stage, events, marks, mark, download, openDialog, say } = options
  const { camera: texts } = useTexts()
  const { isLive, cursorMs, isPaused, rate, view, setView, play, seek, goLive, setPaused, setRate } = playback
  /** Actions that need recordings do nothing without them. */
  const recorded = (act: () => void) => () => {
    if (camera.has_recording) act()
  }
  const step = (byMs: number) =>
    recorded(() => {
      if (byMs < 0) seek(cursorMs + byMs)
      else if (!isLive) cursorMs + byMs > Date.now() - newestMs ? goLive() : seek(cursorMs + byMs)
    })
  const jumpToEvent = (direction: 'after' | 'before') =>
    recorded(() => {
      const found = findNextEvent(events, cursorMs, direction)
      if (found) play(found.atMs)
      else say(direction === 'after' ? texts.noLaterEvent : texts.noEarlierEvent)
    })
  const markHere = (next: Marks) => {
    mark(next)
    setView(follow(view, cursorMs))
  }
  const changeRate = (next: number) => {
    setPaused(false)
    setRate(next)
  }
  const saveSnapshot = async () => {
    const image = stage.current && (await captureImage(stage.current))
    const name = writeFileName(camera.name, zone.localTime(cursorMs), 'jpg')
    if (image) saveFile(image, name)
    say(image ? texts.snapshotSaved(name) : texts.snapshotNone)
  }
  return {
    toggle: () => setPaused(!isPaused),
    back: step(-stepMs),
    forward: step(stepMs),
    farBack: step(-farStepMs),
    farForward: step(farStepMs),
    slower: recorded(() => (!isLive && rate > 1 ? changeRate(slowerThan(rate)) : step(-stepMs)())),
    faster: recorded(() => {
      if (isPaused) setPaused(false)
      else if (!isLive) changeRate(fasterThan(rate))
    }),
    live: goLive,
    zoomIn: recorded(() => setView(zoom(view, 0.5, cursorMs))),
    zoomOut: recorded(() => setView(zoom(view, 2, cursorMs))),
    wholeDay: recorded(() => setView(viewOfDay(cursorMs, zone))),
    jump: recorded(() => openDialog('jump')),
    nextEvent: jumpToEvent('after'),
    eventBefore: jumpToEvent('before'),
    markStart: recorded(() => markHere(markStart(marks, cursorMs))),
    markEnd: recorded(() => markHere(markEnd(marks, cursorMs))),
    unmark: recorded(() => mark({})),
    download: recorded(() => {
      const range = rangeOf(marks)
      if (range && range.endMs - range.startMs <= longestDownloadMs && !download.isPending) download.mutate(range)
    }),
    snapshot: () => void saveSnapshot(),
    fullScreen: () => stage.current && toggleFullScreen(stage.current),
    audio: () => {
      if (camera.audio_enabled) playback.setMuted(!playback.isMuted)
    },
    help: () => openDialog('keys'),
  }
}
