// Deletes the oldest footage: what is older than its camera keeps, then what is over the camera's bytes.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import {
  type DeletionContext,
  dayFolders,
  deleteEmptyFolder,
  deleteLeftGarbage,
  deleteSegments,
  stepSize,
} from './deletion.ts'
import { cameraFolder } from './layout.ts'

export type RetentionPolicy = {
  readonly cameraId: number
  /** Footage that ended longer ago is deleted. */
  readonly maxAgeMs: number
  readonly maxBytes: number | undefined
}

export type RetentionReport = { segments: number; bytes: number }

export type RetentionContext = DeletionContext & { readonly clock: Clock }

/** One pass over all cameras, in small steps; ends early when `signal` aborts. A camera that fails does not stop the others. */
export async function applyRetention(
  context: RetentionContext,
  policies: readonly RetentionPolicy[],
  signal: AbortSignal,
): Promise<RetentionReport> {
  const report: RetentionReport = { segments: 0, bytes: 0 }
  await deleteLeftGarbage(context)
  for (const policy of policies) {
    try {
      await deleteOld(context, policy, report, signal)
      await deleteExcess(context, policy, report, signal)
    } catch (error) {
      const { cameraId } = policy
      context.log.error({ cameraId, error: errorChain(error) }, 'old recordings not deleted')
    }
  }
  if (report.segments > 0) context.log.info({ ...report }, 'old recordings deleted')
  return report
}

/** All closed footage of a camera and its folders. */
export async function deleteAll(context: RetentionContext, cameraId: number, signal: AbortSignal): Promise<void> {
  const report: RetentionReport = { segments: 0, bytes: 0 }
  await deleteOldest(context, cameraId, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY, report, signal)
  await deleteEmptyFolder(context.archiveDir, cameraFolder(cameraId))
}

async function deleteOld(
  context: RetentionContext,
  { cameraId, maxAgeMs }: RetentionPolicy,
  report: RetentionReport,
  signal: AbortSignal,
): Promise<void> {
  const beforeMs = context.clock.nowMs() - maxAgeMs
  await deleteOldest(context, cameraId, beforeMs, Number.POSITIVE_INFINITY, report, signal)
}

async function deleteExcess(
  context: RetentionContext,
  { cameraId, maxBytes }: RetentionPolicy,
  report: RetentionReport,
  signal: AbortSignal,
): Promise<void> {
  if (maxBytes === undefined) return
  const excess = (await context.rows.sumBytes(cameraId)) - maxBytes
  await deleteOldest(context, cameraId, Number.MAX_SAFE_INTEGER, excess, report, signal)
}

/** Oldest first, until those that ended before `beforeMs` or `bytes` are gone. */
async function deleteOldest(
  context: RetentionContext,
  cameraId: number,
  beforeMs: number,
  bytes: number,
  report: RetentionReport,
  signal: AbortSignal,
): Promise<void> {
  const { rows, archiveDir, clock } = context
  let left = bytes
  while (left > 0 && !signal.aborted) {
    const oldest = await rows.listOldest(cameraId, beforeMs, stepSize)
    let count = 0
    for (; count < oldest.length && left > 0; count++) left -= oldest[count]!.bytes
    const doomed = oldest.slice(0, count)
    await deleteSegments(context, doomed)
    report.segments += doomed.length
    for (const segment of doomed) report.bytes += segment.bytes
    await deleteEmptyDays(archiveDir, doomed, clock)
    if (oldest.length < stepSize) return
    await clock.sleep(10, signal).catch(() => {})
  }
}

/** Not today's folder: a recorder may be about to create a file in it. */
async function deleteEmptyDays(archiveDir: string, doomed: readonly { path: string }[], clock: Clock): Promise<void> {
  const today = new Date(clock.nowMs()).toISOString().slice(0, 10)
  for (const folder of dayFolders(doomed.map(({ path }) => path))) {
    if (!folder.endsWith(today)) await deleteEmptyFolder(archiveDir, folder)
  }
}
