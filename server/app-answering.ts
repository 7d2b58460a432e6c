// Wires up what a server without cameras has besides the rest: it plays footage that is in a bucket by itself.

import type { CameraAccess } from './api/camera-access.ts'
import type { AnsweringDeps } from './api/deps.ts'
import type { createAuth } from './app-auth.ts'
import { followPlaces } from './app-media.ts'
import { Catalog } from './archive/catalog.ts'
import { findPlaces } from './archive/open-places.ts'
import type { Clock } from './base/clock.ts'
import type { Logger } from './base/log.ts'
import type { Config } from './config.ts'
import type { MemoryShares } from './memory-shares.ts'
import { Playback } from './playback/playback.ts'
import type { Store } from './store/store.ts'

export type AnsweringOptions = {
  readonly config: Config
  readonly store: Store
  readonly publicUrl: string
  /** Where this server itself is reached; undefined if others cannot hand requests on to it. */
  readonly ownUrl: string | undefined
  readonly memory: MemoryShares
  readonly auth: ReturnType<typeof createAuth>
  readonly access: CameraAccess
  readonly clock: Clock
  readonly log: Logger
}

/** As long as a download or a timeline. What is longer is played by the server with the cameras. */
const maxPlayedMs = 25 * 3_600_000
/** A file that began so long before a range may reach into it. */
const longestFileMs = 3_600_000

export async function openAnswering(options: AnsweringOptions): Promise<AnsweringDeps & Disposable> {
  const { config, store, publicUrl, ownUrl, memory, auth, access, clock, log } = options
  const { segments } = store
  const places = await findPlaces(store.places, [], { node: config.nodeName, cacheBytes: memory.bucketBytes })
  const placeChanges = followPlaces({ ...{ store, places, log }, node: config.nodeName, onChanged: () => {} })
  const catalog = new Catalog({ rows: segments, places, clock, log })
  const recorded = new Playback({
    catalog,
    streams: store.streams,
    clock,
    publicUrl,
    mediaUrl: ownUrl ?? publicUrl,
    nodeName: config.nodeName,
    maxEntriesInMemory: memory.streamEntries,
    maxLayoutBytes: memory.layoutBytes,
    canView: (userId, cameraId) => access.canViewRecordings(userId, cameraId),
    isLive: (credential) => auth.authenticator.isLive(credential),
  })
  return {
    recorded,
    async canPlay(cameraId, startMs, endMs) {
      if (ownUrl === undefined || places.buckets.length === 0 || endMs - startMs > maxPlayedMs) return false
      // Files are written in order: once there is a later one, nothing is added to the range.
      if (!(await segments.findNext(cameraId, endMs))) return false
      const buckets = new Set(places.buckets.map(({ id }) => id))
      const files = await segments.listFiles(cameraId, startMs - longestFileMs, endMs)
      return files.length > 0 && files.every(({ isClosed, placeId }) => isClosed && buckets.has(placeId))
    },
    [Symbol.dispose]: () => placeChanges[Symbol.dispose](),
  }
}
