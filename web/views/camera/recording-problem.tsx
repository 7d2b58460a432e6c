// Explains why nothing is being recorded at the moment and what helps.

import { createErrorMessage } from '../../model/error-message.ts'
import { ErrorText } from '../../parts/error-text.tsx'
import { Notice } from '../../parts/notice.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { Footage, RecordingState } from './footage-queries.ts'

export type RecordingProblemProps = {
  readonly recording: RecordingState | undefined
  readonly footage: Footage
  readonly nowMs: number
}

/** The newest gap extends to now; one that ended earlier is history. */
const openMs = 30_000

export function RecordingProblem({ recording, footage, nowMs }: RecordingProblemProps) {
  const { camera: texts } = useTexts()
  if (recording?.status !== 'ERROR') return null
  const gap = footage.gaps.findLast(({ endMs }) => endMs > nowMs - openMs)
  const advice = gap && texts.recordingAdvice[gap.reason]
  const failing = createErrorMessage(texts.recordingFails, recording.reason)
  return (
    <Notice kind="bad">
      <p>{advice ?? (failing && <ErrorText message={failing} />)}</p>
    </Notice>
  )
}
