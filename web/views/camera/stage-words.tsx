// Over the picture: why it stands still, or that there is none.

import type { AnyCamera } from '../../app/camera-queries.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { Playback } from './use-playback.ts'

/** What is recorded next comes within so long of now; until then waiting is no fault. */
const freshMs = 20_000

export function StageWords({
  of,
  playback,
  nowMs,
}: {
  readonly of: AnyCamera
  readonly playback: Playback
  readonly nowMs: number
}) {
  const { camera: texts } = useTexts()
  const words = findWords(of, playback, nowMs, texts)
  return (
    <p className="stage-words" role="status">
      {words}
    </p>
  )
}

function findWords(
  { camera }: AnyCamera,
  { isLive, isPaused, state, failure, cursorMs }: Playback,
  nowMs: number,
  texts: ReturnType<typeof useTexts>['camera'],
): string | undefined {
  if (failure !== undefined) return undefined
  if (isLive && camera.status === 'offline') {
    return camera.snapshot ? texts.oldPicture : texts.noPicture
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
