// A camera now: HLS with sound where there is any, moving JPEGs where HLS cannot be played.

import { useEffect, useRef, useState } from 'react'
import { findStreamUrl } from '../../../../sdk/index.ts'
import type { AnyCamera } from '../../../app/camera-queries.ts'
import { LivePicture } from '../../../parts/live-picture.tsx'
import { type HlsVideo, openHlsVideo } from './hls-video.ts'

export type LivePlayerProps = { readonly of: AnyCamera; readonly isMuted: boolean; readonly label: string }

const retryMs = 3_000

export function LivePlayer({ of, isMuted, label }: LivePlayerProps) {
  const { camera } = of
  const video = useRef<HTMLVideoElement>(null)
  const [failures, setFailures] = useState(0)
  const isOnline = camera.status === 'online'
  const hasHls = findStreamUrl(camera, 'hls') !== undefined
  // Addresses are signed anew with each answer; the newest is taken when one is needed.
  const hlsUrl = useRef<string>(undefined)
  hlsUrl.current = findStreamUrl(camera, 'hls')
  const usesHls = isOnline && hasHls && failures < 2
  useEffect(() => {
    const element = video.current
    if (!usesHls || !element || hlsUrl.current === undefined) return
    let player: HlsVideo | undefined
    let isClosed = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const onFailure = () => {
      timer = setTimeout(() => setFailures((before) => before + 1), retryMs)
    }
    openHlsVideo({ video: element, url: hlsUrl.current, onFailure }).then((opened) => {
      if (isClosed) opened.close()
      else player = opened
    }, onFailure)
    return () => {
      isClosed = true
      clearTimeout(timer)
      player?.close()
    }
  }, [usesHls, failures, camera.id])
  if (!usesHls) {
    return (
      <LivePicture
        url={isOnline ? findStreamUrl(camera, 'mjpeg') : undefined}
        poster={camera.snapshot?.url}
        alt={label}
      />
    )
  }
  return (
    <video
      ref={video}
      className="picture"
      aria-label={label}
      poster={camera.snapshot?.url}
      autoPlay
      muted={isMuted}
      playsInline
    />
  )
}
