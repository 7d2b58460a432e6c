// What retention would delete, or has deleted, as text and as JSON.

import type { RetentionReport } from '../archive/retention.ts'
import type { PlannedDeletion, RetentionReason } from '../archive/retention-plan.ts'
import { writeByteSize } from '../model/byte-size.ts'
import { writeTime } from '../model/time.ts'
import { writeTable } from './table.ts'

type CameraPlan = {
  readonly cameraId: number
  segments: number
  bytes: number
  readonly startMs: number
  endMs: number
  readonly reasons: Set<RetentionReason>
}

export type PlanSummary = readonly CameraPlan[]

const words: Record<RetentionReason, string> = {
  age: 'too old',
  camera_bytes: 'over the size of the camera',
  user_bytes: 'over the size of the user',
  archive_bytes: 'over the size of the archive',
  disk_space: 'no room on the disk',
}

/** By camera, in the order of their ids. */
export async function summarizePlan(plan: AsyncIterable<PlannedDeletion>): Promise<PlanSummary> {
  const cameras = new Map<number, CameraPlan>()
  for await (const { cameraId, startMs, endMs, bytes, reason } of plan) {
    const camera = cameras.get(cameraId) ?? { cameraId, segments: 0, bytes: 0, startMs, endMs, reasons: new Set() }
    camera.segments++
    camera.bytes += bytes
    camera.endMs = Math.max(camera.endMs, endMs)
    camera.reasons.add(reason)
    cameras.set(cameraId, camera)
  }
  return [...cameras.values()].sort((a, b) => a.cameraId - b.cameraId)
}

const sum = (plan: PlanSummary, key: 'segments' | 'bytes') => plan.reduce((total, camera) => total + camera[key], 0)

export function describePlan(plan: PlanSummary): string {
  const rows = plan.map(({ cameraId, segments, bytes, startMs, endMs, reasons }) => [
    String(cameraId),
    String(segments),
    writeByteSize(bytes),
    writeTime(startMs),
    writeTime(endMs),
    [...reasons].map((reason) => words[reason]).join(', '),
  ])
  const table = writeTable(['CAMERA', 'FILES', 'SIZE', 'FROM', 'TO', 'WHY'], rows, 'Nothing would be deleted.')
  if (plan.length === 0) return table
  return `${table}\n${sum(plan, 'segments')} files, ${writeByteSize(sum(plan, 'bytes'))}, would be deleted.`
}

export function writePlan(plan: PlanSummary) {
  return {
    segments: sum(plan, 'segments'),
    bytes: sum(plan, 'bytes'),
    cameras: plan.map(({ cameraId, segments, bytes, startMs, endMs, reasons }) => ({
      id: cameraId,
      segments,
      bytes,
      start: writeTime(startMs),
      end: writeTime(endMs),
      reasons: [...reasons],
    })),
  }
}

export function describeReport({ segments, bytes, reasons }: RetentionReport): string {
  if (segments === 0) return 'Nothing was to be deleted.'
  const why = Object.entries(reasons).map(([reason, count]) => `${count} ${words[reason as RetentionReason]}`)
  return `Deleted ${segments} files, ${writeByteSize(bytes)}: ${why.join(', ')}.`
}
