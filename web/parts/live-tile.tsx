// Shows a camera live on the wall: video without audio, or images where video cannot be played or the line is slow, or an
// image every few seconds where the browser has too few connections.

import { useCallback, useEffect, useRef, useState } from 'react'
import { findStreamUrl } from '../../sdk/index.ts'
import type { AnyCamera } from '../app/camera-queries.ts'
import { LiveImage } from './live-image.tsx'
import { findMediaSource, type MseFailure, type MseVideo, openMseVideo } from './mse-video.ts'
import { useIsVisible } from './use-is-visible.ts'
import { useSlowRetry } from './use-slow-retry.ts'

export type LiveTileProps = {
  readonly camera: AnyCamera['camera']
  /** For URLs of images in another size. */
  readonly isWaiting: boolean
  /** Dims the image. */
  readonly isOld: boolean
  /** It may keep a connection for itself. */
  readonly isStreamed: boolean
}

/** Of a browser that has few connections: the others are for everything else. */
export const streamsOfFew = 3

const snapshotEveryMs = 5_000

/** Over HTTP/1.1, browsers open six connections to a server. Streams that never end could take all of them. */
export function hasFewConnections(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return navigation?.nextHopProtocol === 'http/1.1'
}

export function LiveTile({ camera, isWaiting, isOld, isStreamed }: LiveTileProps) {
  const [failure, setFailure] = useState<MseFailure>()
  const rise = useCallback(() => setFailure(undefined), [])
  useSlowRetry(failure, rise)
  const [isWanted] = useState(wantsVideo)
  const isVideo = isWanted && failure === undefined
  const isOnline = camera.status === 'online'
  const poster = camera.snapshot?.url
  if (!isStreamed) return <TileSnapshots url={isOnline ? camera.live_snapshot : null} poster={poster} isOld={isOld} />
  if (isVideo) {
    const url = isOnline ? findStreamUrl(camera, 'mp4') : undefined
    return <TileVideo url={url} poster={poster} isOld={isOld} onFailure={setFailure} />
  }
  const url = isOnline && !isWaiting ? findStreamUrl(camera, 'mjpeg') : undefined
  return <LiveImage url={url} poster={poster} alt="" isOld={isOld} />
}

type TileSnapshotsProps = {
  readonly url: string | null
  readonly poster: string | undefined
  readonly isOld: boolean
}

function TileSnapshots({ url, poster, isOld }: TileSnapshotsProps) {
  const image = useRef<HTMLImageElement>(null)
  const { isNear, isShown } = useIsVisible(image)
  const [count, setCount] = useState(0)
  const isLive = isNear && isShown && url !== null
  useEffect(() => {
    if (!isLive) return
    const timer = setInterval(() => setCount((before) => before + 1), snapshotEveryMs)
    return () => clearInterval(timer)
  }, [isLive])
  // URLs are signed anew with each response; each image is requested once.
  const shown = useRef<{ url: string; count: number }>(undefined)
  if (isLive && shown.current?.count !== count) shown.current = { url: `${url}&count=${count}`, count }
  return (
    <span className={`live-image ${isOld ? 'live-image-old' : ''}`}>
      <img ref={image} className="media" src={shown.current?.url ?? poster} alt="" decoding="async" />
    </span>
  )
}

type TileVideoProps = {
  readonly url: string | undefined
  readonly poster: string | undefined
  readonly isOld: boolean
  readonly onFailure: (reason: MseFailure) => void
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
    const fail = (reason: MseFailure) => latest.current.onFailure(reason)
    player.current = openMseVideo({
      video: video.current,
      url: () => latest.current.url,
      hasAudio: false,
      isOneOfMany: true,
      onBlocked: () => fail('media'),
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
