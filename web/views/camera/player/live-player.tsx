// Plays a camera live: HLS with audio, if there is any, or MJPEG where HLS cannot be played. Restarts by itself after
// an error.

import { useCallback, useEffect, useRef, useState } from 'react'
import { findStreamUrl } from '../../../../sdk/index.ts'
import type { AnyCamera } from '../../../app/camera-queries.ts'
import { LiveImage } from '../../../parts/live-image.tsx'
import { captureImage } from '../save-image.ts'
import { type HlsVideo, openHlsVideo, playVideo } from './hls-video.ts'
import { type PlayerState, useProgress } from './player-state.ts'

export type LivePlayerProps = {
  readonly of: AnyCamera
  readonly isMuted: boolean
  readonly isPaused: boolean
  readonly label: string
  /** Wall-clock time of the displayed frame, to the second; undefined if unknown. */
  readonly onTime: (ms: number | undefined) => void
  readonly onState: (state: PlayerState) => void
}

const tellIntervalMs = 250
const retryMs = 3_000

export function LivePlayer({ of, isMuted, isPaused, label, onTime, onState }: LivePlayerProps) {
  const { camera } = of
  const video = useRef<HTMLVideoElement>(null)
  const player = useRef<HlsVideo>(undefined)
  const callbacks = useRef({ onTime, onState })
  callbacks.current = { onTime, onState }
  const [attempt, setAttempt] = useState(0)
  const [isUnplayable, setUnplayable] = useState(false)
  const isOnline = camera.status === 'online'
  const hasHls = findStreamUrl(camera, 'hls') !== undefined
  // URLs are signed anew with each response; use the newest when one is needed.
  const hlsUrl = useRef<string>(undefined)
  hlsUrl.current = findStreamUrl(camera, 'hls')
  const usesHls = isOnline && hasHls && !isUnplayable
  // Another format may be playable again.
  useEffect(() => setUnplayable(false), [camera.type])
  const again = useCallback(() => setAttempt((before) => before + 1), [])
  useEffect(() => {
    const element = video.current
    if (!usesHls || !element || hlsUrl.current === undefined) return
    let isClosed = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const onFailure = (reason: 'network' | 'media') => {
      if (isClosed) return
      if (reason === 'media') setUnplayable(true)
      else {
        callbacks.current.onState('waiting')
        timer = setTimeout(again, retryMs)
      }
    }
    openHlsVideo({ video: element, url: hlsUrl.current, onFailure }).then(
      (opened) => {
        if (isClosed) opened.close()
        else player.current = opened
      },
      () => onFailure('network'),
    )
    return () => {
      isClosed = true
      clearTimeout(timer)
      player.current?.close()
      player.current = undefined
    }
  }, [usesHls, attempt, again])
  useEffect(() => {
    const element = video.current
    if (!usesHls || !element) return
    if (isPaused) {
      element.pause()
      return
    }
    if (element.readyState > 0) player.current?.toNewest()
    playVideo(element, () => callbacks.current.onState('blocked'))
  }, [usesHls, attempt, isPaused])
  useEffect(() => {
    const tell = () => {
      const ms = player.current?.currentMs()
      callbacks.current.onTime(ms === undefined ? undefined : Math.floor(ms / 1000) * 1000)
    }
    const timer = setInterval(tell, tellIntervalMs)
    return () => clearInterval(timer)
  }, [])
  useProgress(video, { isPaused: isPaused || !usesHls, of: `${usesHls} ${attempt}`, onState, onStuck: again })
  const isImages = !usesHls && isOnline
  useEffect(() => {
    // An MJPEG image does not report its state.
    if (isImages) callbacks.current.onState('playing')
  }, [isImages])
  const images = useRef<HTMLDivElement>(null)
  const still = useStill(images, isImages && isPaused)
  if (!usesHls) {
    return (
      <div className="live-images" ref={images}>
        <LiveImage
          url={isOnline && still === undefined ? findStreamUrl(camera, 'mjpeg') : undefined}
          poster={still ?? camera.snapshot?.url}
          alt={label}
          isOld={camera.status === 'offline'}
        />
      </div>
    )
  }
  return (
    <video
      ref={video}
      className="media"
      aria-label={label}
      poster={camera.snapshot?.url}
      autoPlay={!isPaused}
      muted={isMuted}
      playsInline
    />
  )
}

/** URL of the last image, shown while MJPEG is paused. */
function useStill(images: { readonly current: HTMLElement | null }, isPaused: boolean): string | undefined {
  const [still, setStill] = useState<string>()
  useEffect(() => {
    if (!isPaused || !images.current) return
    let isOver = false
    let url: string | undefined
    captureImage(images.current).then((image) => {
      if (isOver || !image) return
      url = URL.createObjectURL(image)
      setStill(url)
    })
    return () => {
      isOver = true
      setStill(undefined)
      if (url !== undefined) URL.revokeObjectURL(url)
    }
  }, [isPaused, images])
  return still
}
