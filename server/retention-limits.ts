// What may be kept, from the places it is said in: rows of cameras and users, and the configuration.

import type { RetentionLimits } from './archive/retention-plan.ts'
import { parseDurationMs } from './model/duration.ts'
import type { Store } from './store/store.ts'

export async function loadRetentionLimits(
  { recordings, userLimits }: Pick<Store, 'recordings' | 'userLimits'>,
  archiveMaxBytes: number | undefined,
): Promise<RetentionLimits> {
  const [policies, users] = await Promise.all([recordings.listPolicies(), userLimits.list()])
  const cameras = policies.map(({ cameraId, ownerId, retention, maxBytes }) => ({
    cameraId,
    ownerId,
    maxAgeMs: parseDurationMs(retention),
    maxBytes: maxBytes ?? undefined,
  }))
  return { cameras, users, maxBytes: archiveMaxBytes }
}
