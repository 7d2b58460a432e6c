// The thumbnail of a recorded moment; nothing if there is no recording of it.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type CameraKind, camerasKey } from '../app/camera-queries.ts'
import { useClient } from '../app/clients.tsx'

export type ThumbnailProps = {
  readonly kind: CameraKind
  readonly cameraId: number
  readonly atMs: number
  /** In pixels. */
  readonly width: number
}

/** URLs are valid for two hours. */
const renewMs = 90 * 60_000

/** Decorative: what it shows is written beside it. */
export function Thumbnail({ kind, cameraId, atMs, width }: ThumbnailProps) {
  const client = useClient()
  const { data } = useQuery({
    queryKey: [...camerasKey, kind, cameraId, 'thumbnails', width],
    queryFn: ({ signal }) => {
      const cameras = kind === 'own' ? client.cameras : client.sharedCameras
      return cameras.getPictures(cameraId, { max_width: width }, { signal })
    },
    staleTime: renewMs,
    refetchInterval: renewMs,
  })
  const [missingMs, setMissingMs] = useState<number>()
  if (!data || missingMs === atMs) return null
  const src = `${data.url}&at=${encodeURIComponent(new Date(atMs).toISOString())}`
  return <img className="moment" src={src} alt="" loading="lazy" width={width} onError={() => setMissingMs(atMs)} />
}
