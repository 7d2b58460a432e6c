// The camera page: live, or any recorded moment. `?at=` in the URL is the moment; without it, live.

import { useEffect, useMemo, useRef, useState } from 'react'
import { Link, useParams } from 'wouter'
import { NightjarError } from '../../../sdk/index.ts'
import { type AnyCamera, type CameraKind, useCamera } from '../../app/camera-queries.ts'
import type { Marks } from '../../model/marked-range.ts'
import { findMessage, offlineErrorOf } from '../../model/offline-messages.ts'
import { createZone } from '../../model/zone.ts'
import { ErrorText } from '../../parts/error-text.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { useTexts } from '../../texts/texts.tsx'
import './camera.css'
import { useClock } from '../../parts/clock.ts'
import { useEvents } from './event-queries.ts'
import { useFootage, useRecording } from './footage-queries.ts'
import { JumpDialog } from './jump-dialog.tsx'
import { KeyHelp } from './key-help.tsx'
import { LeaveCamera } from './leave-camera.tsx'
import { PlayFailure } from './play-failure.tsx'
import { LivePlayer } from './player/live-player.tsx'
import { RecordedPlayer } from './player/recorded-player.tsx'
import { PlayerControls } from './player-controls.tsx'
import { PlayerMessage } from './player-message.tsx'
import { useDownload } from './range-panel.tsx'
import { Recordings } from './recordings.tsx'
import { useNow } from './use-clock.ts'
import { useCommands } from './use-commands.ts'
import { useKeys } from './use-keys.ts'
import { usePlayback, writeSeconds } from './use-playback.ts'

const saidMs = 8_000

export function OwnCamera() {
  return <CameraById kind="own" />
}

export function SharedCameraView() {
  return <CameraById kind="shared" />
}

function CameraById({ kind }: { readonly kind: CameraKind }) {
  const { id } = useParams<{ id: string }>()
  const { loading, cameras } = useTexts()
  const camera = useCamera(kind, Number(id))
  // The camera existed, and has been deleted or is no longer shared.
  const isGone = camera.error instanceof NightjarError && camera.error.status === 404
  if (camera.data && !isGone) return <CameraView key={id} of={camera.data} />
  return (
    <Page title={cameras.title}>
      {camera.error ? <Failure error={camera.error} onAgain={() => camera.refetch()} /> : <p>{loading}</p>}
    </Page>
  )
}

function CameraView({ of }: { readonly of: AnyCamera }) {
  const { kind, camera } = of
  const { camera: texts, cameras, detection } = useTexts()
  const nowMs = useNow(1_000)
  const zone = useMemo(() => createZone(Intl.DateTimeFormat().resolvedOptions().timeZone), [])
  const clock = useClock(zone)
  const playback = usePlayback(camera.has_recording, nowMs, zone)
  const { isLive, atMs, jump, cursorMs, isPaused, isMuted, rate, view, failure } = playback
  const [marks, setMarks] = useState<Marks>({})
  const [dialog, setDialog] = useState<'jump' | 'keys'>()
  const [said, say] = useSaid()
  const stage = useRef<HTMLDivElement>(null)
  const recording = useRecording(kind, camera.id, camera.has_recording)
  const footage = useFootage(kind, camera.id, view, camera.has_recording)
  const events = useEvents(kind, camera.id, view)
  const download = useDownload(kind, camera, zone)
  const mark = (next: Marks) => {
    setMarks(next)
    // The message was about another range.
    if (!download.isPending) download.reset()
  }
  const commands = useCommands({
    ...{ camera, playback, zone, stage, events: events.events, marks, mark, download },
    openDialog: setDialog,
    say,
  })
  const keys = useKeys(commands)
  const copyLink = () => {
    const link = `${location.origin}${location.pathname}${isLive ? '' : `?at=${writeSeconds(cursorMs)}`}`
    const done = () => say(texts.linkCopied)
    const refused = () => say(texts.linkNotCopied(link))
    navigator.clipboard ? navigator.clipboard.writeText(link).then(done, refused) : refused()
  }
  const label = isLive ? texts.liveImage(camera.name) : texts.recordedImage(camera.name, clock.dateTime(cursorMs))
  return (
    <Page
      title={camera.name}
      above={{ name: cameras.title, href: '/' }}
      actions={
        kind === 'own' ? (
          <>
            <Link className="action action-quiet" href={`/events?camera=${camera.id}`}>
              {texts.events}
            </Link>
            <Link className="action action-quiet" href={`/cameras/${camera.id}/guests`}>
              {texts.guests}
            </Link>
            <Link className="action action-quiet" href={`/cameras/${camera.id}/settings`}>
              {texts.settings}
            </Link>
          </>
        ) : (
          <LeaveCamera camera={camera} />
        )
      }
    >
      <div className="stage" ref={stage}>
        <div className="stage-media">
          {isLive ? (
            <LivePlayer
              key={playback.liveAttempt}
              of={of}
              wanted={playback.transport}
              isMuted={isMuted}
              isPaused={isPaused}
              label={label}
              onTime={playback.noteTime}
              onState={playback.noteState}
              onReport={playback.noteLive}
            />
          ) : (
            <RecordedPlayer
              kind={kind}
              cameraId={camera.id}
              atMs={atMs}
              jump={jump}
              isPaused={isPaused}
              isMuted={isMuted}
              rate={rate}
              label={label}
              onTime={playback.noteTime}
              onState={playback.noteState}
              onFailure={playback.noteFailure}
            />
          )}
          <p className="stage-said" role="status">
            {said}
          </p>
          <PlayerMessage of={of} playback={playback} nowMs={nowMs} zone={zone} />
        </div>
        <PlayerControls of={of} playback={playback} commands={commands} zone={zone} onCopyLink={copyLink} />
      </div>
      {camera.status === 'offline' && isLive && (
        <Notice kind="bad">
          <p>
            <ErrorText
              message={
                (kind === 'own' && findMessage(offlineErrorOf(camera), detection)) || {
                  text: camera.has_recording ? texts.offline : texts.offlineUnrecorded,
                }
              }
            />
          </p>
        </Notice>
      )}
      {isLive && camera.status === 'online' && playback.live?.fallback && (
        <Notice kind="hint">
          <p>
            {texts.fallback[playback.live.fallback]} {texts.shownAs[playback.live.transport]}{' '}
            <button type="button" className="action action-quiet" onClick={playback.retryLive}>
              {texts.retryLive}
            </button>
          </p>
        </Notice>
      )}
      {failure !== undefined && (
        <PlayFailure
          type={camera.type}
          failure={failure}
          newestMs={recording.data?.newestMs}
          zone={zone}
          onPlay={playback.play}
          onLive={playback.goLive}
        />
      )}
      {camera.has_recording ? (
        <Recordings
          {...{ of, playback, commands, zone, nowMs, footage, events, marks, download }}
          recording={recording.data}
          onMarks={mark}
        />
      ) : (
        <Notice kind="hint">
          <p>{kind === 'own' ? texts.notRecorded : texts.noRecordings}</p>
        </Notice>
      )}
      {dialog === 'keys' && <KeyHelp isOn={keys.isOn} onSwitch={keys.setOn} onClose={() => setDialog(undefined)} />}
      {dialog === 'jump' && (
        <JumpDialog
          {...{ zone, nowMs, cursorMs }}
          oldestMs={recording.data?.oldestMs}
          onJump={playback.play}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Page>
  )
}

/** A short-lived message, which screen readers announce. */
function useSaid(): [string | undefined, (text: string) => void] {
  const [said, setSaid] = useState<string>()
  useEffect(() => {
    if (said === undefined) return
    const timer = setTimeout(() => setSaid(undefined), saidMs)
    return () => clearTimeout(timer)
  }, [said])
  return [said, setSaid]
}
