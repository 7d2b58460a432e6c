// Loads the limits of retention from the rows of recordings and users, and from the configuration.

import { parseDurationMs } from '../model/duration.ts'
import type { RetentionLimits } from './retention-plan.ts'

/** The rows, in any database (server/store/cameras/recordings.ts, user-limits.ts). */
export type LimitRows = {
  readonly recordings: {
    listPolicies(): Promise<
      readonly {
        readonly cameraId: number
        readonly ownerId: number
        /** ISO 8601. */
        readonly retention: string
        readonly maxBytes: number | null
        readonly deactivatedAtMs: number | null
      }[]
    >
  }
  readonly userLimits: { list(): Promise<ReadonlyMap<number, number>> }
  readonly users: { listOwnerIds(): Promise<readonly number[]> }
}

export async function loadRetentionLimits(
  { recordings, userLimits, users: accounts }: LimitRows,
  archiveMaxBytes: number | undefined,
): Promise<RetentionLimits> {
  const [policies, users, owners] = await Promise.all([
    recordings.listPolicies(),
    userLimits.list(),
    accounts.listOwnerIds(),
  ])
  const cameras = policies.map(({ cameraId, ownerId, retention, maxBytes, deactivatedAtMs }) => ({
    cameraId,
    ownerId,
    maxAgeMs: parseDurationMs(retention),
    maxBytes: maxBytes ?? undefined,
    isRecorded: deactivatedAtMs === null,
  }))
  const others = new Set(cameras.map(({ ownerId }) => ownerId).filter((id) => !owners.includes(id)))
  return { cameras, users, others, maxBytes: archiveMaxBytes }
}
