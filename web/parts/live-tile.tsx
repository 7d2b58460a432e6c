// Shows a camera live on the wall: video without audio, or images where video cannot be played or the line is slow.

import { useEffect, useRef, useState } from 'react'
import { findStreamUrl } from '../../sdk/index.ts'
import type { AnyCamera } from '../app/camera-queries.ts'
import { LiveImage } from './live-image.tsx'
import { findMediaSource, type MseVideo, openMseVideo } from './mse-video.ts'
import { useIsVisible } from './use-is-visible.ts'

export type LiveTileProps = {
  readonly camera: AnyCamera['camera']
  /** For URLs of images in another size. */
  readonly isWaiting: boolean
  /** Dims the image. */
  readonly isOld: boolean
}

export function LiveTile({ camera, isWaiting, isOld }: LiveTileProps) {
  const [isVideo, setVideo] = useState(wantsVideo)
  const isOnline = camera.status === 'online'
  const poster = camera.snapshot?.url
  if (isVideo) {
    const url = isOnline ? findStreamUrl(camera, 'mp4') : undefined
    return <TileVideo url={url} poster={poster} isOld={isOld} onFailure={() => setVideo(false)} />
  }
  const url = isOnline && !isWaiting ? findStreamUrl(camera, 'mjpeg') : undefined
  return <LiveImage url={url} poster={poster} alt="" isOld={isOld} />
}

type TileVideoProps = {
  readonly url: string | undefined
  readonly poster: string | undefined
  readonly isOld: boolean
  readonly onFailure: () => void
}

function TileVideo({ url, poster, isOld, onFailure }: TileVideoProps) {
  const video = useRef<HTMLVideoElement>(null)
  const player = useRef<MseVideo>(undefined)
  const latest = useRef({ url, onFailure })
  latest.current = { url, onFailure }
  const { isNear } = useIsVisible(video)
  const hasUrl = url !== undefined
  // Players of distant tiles are closed: browsers have a limited number.
  useEffect(() => {
    if (!isNear || !video.current) return
    const fail = () => latest.current.onFailure()
    player.current = openMseVideo({
      video: video.current,
      url: () => latest.current.url,
      hasAudio: false,
      onBlocked: fail,
      onFailure: fail,
    })
    return () => {
      player.current?.close()
      player.current = undefined
    }
  }, [isNear])
  // While the camera is away, the last image stays.
  useEffect(() => {
    if (isNear) player.current?.setPaused(!hasUrl)
  }, [isNear, hasUrl])
  return (
    <span className={`live-image ${isOld ? 'live-image-old' : ''}`}>
      <video ref={video} className="media" poster={poster} aria-hidden="true" tabIndex={-1} muted playsInline />
    </span>
  )
}

/** Of browsers that know something about the line. */
type WithConnection = Navigator & {
  readonly connection?: { readonly saveData?: boolean; readonly effectiveType?: string }
}

function wantsVideo(): boolean {
  const { saveData = false, effectiveType = '4g' } = (navigator as WithConnection).connection ?? {}
  return findMediaSource() !== undefined && !saveData && effectiveType === '4g'
}
