// Message over the player: why the video is stalled or missing.

import type { AnyCamera } from '../../app/camera-queries.ts'
import type { Zone } from '../../model/zone.ts'
import { useClock } from '../../parts/clock.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { Playback } from './use-playback.ts'

/** New footage becomes available within this time; until then, waiting is normal. */
const freshMs = 20_000

export function PlayerMessage({
  of,
  playback,
  nowMs,
  zone,
}: {
  readonly of: AnyCamera
  readonly playback: Playback
  readonly nowMs: number
  readonly zone: Zone
}) {
  const { camera: texts } = useTexts()
  const clock = useClock(zone)
  const labels = findMessage(of, playback, nowMs, texts, clock.dateTime)
  return (
    <p className="stage-message" role="status">
      {labels}
    </p>
  )
}

function findMessage(
  { camera }: AnyCamera,
  { isLive, isPaused, state, failure, cursorMs }: Playback,
  nowMs: number,
  texts: ReturnType<typeof useTexts>['camera'],
  writeTime: (ms: number) => string,
): string | undefined {
  if (failure !== undefined) return undefined
  if (isLive && camera.status === 'offline') {
    return camera.snapshot ? texts.oldImage(writeTime(Date.parse(camera.snapshot.created_at))) : texts.noImage
  }
  if (isLive && camera.status === 'unknown') return texts.connecting
  if (isPaused) return undefined
  switch (state) {
    case 'starting':
      return texts.starting
    case 'waiting':
      return isLive || cursorMs < nowMs - freshMs ? texts.waiting : texts.waitingForNew
    case 'ended':
      return texts.ended
    default:
      return undefined
  }
}
