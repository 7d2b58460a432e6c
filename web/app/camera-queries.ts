// Queries for cameras, shared by all views so that they use the same cache entries.

import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Camera, Client, SharedCamera } from '../../sdk/index.ts'
import { findRefreshIntervalMs } from '../model/refresh-interval.ts'
import { useClient } from './clients.tsx'
import { readAll } from './read-all.ts'

/** While cameras are on screen, their status and images are refreshed at least this often. */
const statusIntervalMs = 5_000
/** Lists longer than this are refreshed less often. */
const usualCount = 100
/** The largest page size that the API allows. */
const limit = 1000
/** Used while the user waits for the result. */
const connectingIntervalMs = 1_000

export type AnyCamera =
  | { readonly kind: 'own'; readonly camera: Camera }
  | { readonly kind: 'shared'; readonly camera: SharedCamera }
export type CameraKind = AnyCamera['kind']

/** Live MJPEG parameters for a tile. */
export type TileView = { readonly max_width: number; readonly max_height: number; readonly refresh_rate: number }

export const camerasKey = ['cameras'] as const

export function ownCamerasQuery(client: Client, view?: TileView) {
  return queryOptions({
    queryKey: [...camerasKey, 'own', view],
    queryFn: ({ signal }) => readAll(client.cameras.listAll({ ...view, limit }, { signal })),
    refetchInterval: ({ state }) => findRefreshIntervalMs(statusIntervalMs, state.data?.length ?? 0, usualCount),
  })
}

export function sharedCamerasQuery(client: Client, view?: TileView) {
  return queryOptions({
    queryKey: [...camerasKey, 'shared', view],
    queryFn: ({ signal }) => readAll(client.sharedCameras.listAll({ ...view, limit }, { signal })),
    refetchInterval: ({ state }) => findRefreshIntervalMs(statusIntervalMs, state.data?.length ?? 0, usualCount),
  })
}

/** A single camera, owned or shared. */
export function useCamera(kind: CameraKind, id: number, view?: TileView) {
  const client = useClient()
  return useQuery({
    queryKey: [...camerasKey, kind, id, view],
    queryFn: async ({ signal }): Promise<AnyCamera> =>
      kind === 'own'
        ? { kind, camera: await client.cameras.get(id, { ...view }, { signal }) }
        : { kind, camera: await client.sharedCameras.get(id, { ...view }, { signal }) },
    refetchInterval: ({ state }) => (state.data?.camera.status === 'unknown' ? connectingIntervalMs : statusIntervalMs),
  })
}
