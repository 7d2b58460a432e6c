// Whether a camera is to be recorded at a moment: recording is turned on, and was not stopped since.

export type RecordingRun = {
  /** Null while recording is turned on. */
  readonly deactivatedAtMs: number | null
  /** When it stops, or has stopped; null: it goes on. */
  readonly recordsUntilMs: number | null
}

export function isRecordedAt({ deactivatedAtMs, recordsUntilMs }: RecordingRun, nowMs: number): boolean {
  return deactivatedAtMs === null && (recordsUntilMs === null || nowMs < recordsUntilMs)
}
