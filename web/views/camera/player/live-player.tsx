// Plays a camera live: as fast as possible with Media Source, or as HLS, or as images. What cannot be played falls back
// to the next, once, and says so; it stays there until the viewer asks for another. What was too slow or did not begin is
// tried again after a while. Restarts by itself after an error.

import { useCallback, useEffect, useRef, useState } from 'react'
import { findStreamUrl } from '../../../../sdk/index.ts'
import type { AnyCamera } from '../../../app/camera-queries.ts'
import { LiveImage } from '../../../parts/live-image.tsx'
import { findMediaSource, type MseFailure, openMseVideo } from '../../../parts/mse-video.ts'
import { useSlowRetry } from '../../../parts/use-slow-retry.ts'
import { captureImage } from '../save-image.ts'
import { openHlsVideo, playVideo } from './hls-video.ts'
import { type PlayerState, useProgress } from './player-state.ts'

/** How a camera is shown live. `fast`: MP4 by Media Source. */
export type LiveTransport = 'fast' | 'hls' | 'images'

export type LiveReport = {
  /** How long ago the displayed frame was captured; undefined if unknown. */
  readonly behindMs: number | undefined
  readonly transport: LiveTransport
  /** Why it is not the one that was wanted. */
  readonly fallback: MseFailure | undefined
}

export type LivePlayerProps = {
  readonly of: AnyCamera
  /** Undefined: the best there is. */
  readonly wanted: LiveTransport | undefined
  readonly isMuted: boolean
  readonly isPaused: boolean
  readonly label: string
  /** Wall-clock time of the displayed frame, to the second; undefined if unknown. */
  readonly onTime: (ms: number | undefined) => void
  readonly onState: (state: PlayerState) => void
  readonly onReport: (report: LiveReport) => void
}

type Opened = {
  currentMs(): number | undefined
  behindMs(): number | undefined
  setPaused(isPaused: boolean): void
  close(): void
}

type Fallen = { readonly to: LiveTransport; readonly because: MseFailure }

const tellIntervalMs = 250
const retryMs = 3_000

export function LivePlayer(props: LivePlayerProps) {
  const { of, wanted, isMuted, isPaused, label, onState } = props
  const { camera } = of
  const video = useRef<HTMLVideoElement>(null)
  const player = useRef<Opened>(undefined)
  const callbacks = useRef(props)
  callbacks.current = props
  const [attempt, setAttempt] = useState(0)
  const [fallen, setFallen] = useState<Fallen>()
  const rise = useCallback(() => setFallen(undefined), [])
  // Another format may be playable again, and so may what the viewer asks for.
  useEffect(rise, [rise, camera.type, wanted])
  useSlowRetry(fallen?.because, rise)
  const isOnline = camera.status === 'online'
  const transport = fallen?.to ?? wanted ?? (findMediaSource() ? 'fast' : 'hls')
  const isVideo = isOnline && transport !== 'images'
  const hasAudio = camera.audio_enabled && !isMuted
  // URLs are signed anew with each response; use the newest when one is needed.
  const urls = useRef<{ hls: string | undefined; mp4: string | undefined }>(undefined)
  urls.current = { hls: findStreamUrl(camera, 'hls'), mp4: findStreamUrl(camera, 'mp4') }
  const again = useCallback(() => setAttempt((before) => before + 1), [])
  const fall = useCallback(
    (because: MseFailure) => {
      // HLS needs the same line.
      const to = transport === 'fast' && because !== 'slow' ? 'hls' : 'images'
      setFallen((before) => ({ to, because: before?.because ?? because }))
    },
    [transport],
  )
  /** HLS always has its audio. */
  const audioOf = transport === 'fast' && hasAudio
  useEffect(() => {
    const element = video.current
    if (!isVideo || !element) return
    if (transport === 'fast') {
      player.current = openMseVideo({
        video: element,
        url: () => urls.current?.mp4,
        hasAudio: audioOf,
        onBlocked: () => callbacks.current.onState('blocked'),
        onFailure: fall,
      })
      if (callbacks.current.isPaused) player.current.setPaused(true)
      return () => {
        player.current?.close()
        player.current = undefined
      }
    }
    const url = urls.current?.hls
    if (url === undefined) return fall('media')
    return openHls(element, url, {
      isPaused: () => callbacks.current.isPaused,
      onOpened: (opened) => {
        player.current = opened
      },
      onBlocked: () => callbacks.current.onState('blocked'),
      onWaiting: () => callbacks.current.onState('waiting'),
      onAgain: again,
      onUnplayable: () => fall('media'),
    })
  }, [isVideo, transport, audioOf, attempt, again, fall])
  useEffect(() => {
    if (isVideo) player.current?.setPaused(isPaused)
  }, [isVideo, isPaused])
  const because = fallen?.because
  useEffect(() => {
    const tell = () => {
      const ms = player.current?.currentMs()
      callbacks.current.onTime(ms === undefined ? undefined : Math.floor(ms / 1000) * 1000)
      callbacks.current.onReport({ behindMs: player.current?.behindMs(), transport, fallback: because })
    }
    tell()
    const timer = setInterval(tell, tellIntervalMs)
    return () => clearInterval(timer)
  }, [transport, because])
  useProgress(video, {
    isPaused: isPaused || !isVideo,
    of: `${isVideo} ${transport} ${attempt}`,
    onState,
    // The fast player looks after itself, and keeps the last image meanwhile.
    onStuck: transport === 'fast' ? () => {} : again,
  })
  const isImages = !isVideo && isOnline
  useEffect(() => {
    // An MJPEG image does not report its state.
    if (isImages) callbacks.current.onState('playing')
  }, [isImages])
  const images = useRef<HTMLDivElement>(null)
  const still = useStill(images, isImages && isPaused)
  if (!isVideo) {
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
      key={transport}
      ref={video}
      className="media"
      aria-label={label}
      poster={camera.snapshot?.url}
      muted={isMuted}
      playsInline
    />
  )
}

type HlsEvents = {
  readonly isPaused: () => boolean
  readonly onOpened: (opened: Opened | undefined) => void
  readonly onBlocked: () => void
  readonly onWaiting: () => void
  readonly onAgain: () => void
  readonly onUnplayable: () => void
}

/** Returns a function that closes it. */
function openHls(video: HTMLVideoElement, url: string, events: HlsEvents): () => void {
  let isClosed = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let close = () => {}
  const onFailure = (reason: 'network' | 'media') => {
    if (isClosed) return
    if (reason === 'media') return events.onUnplayable()
    events.onWaiting()
    timer = setTimeout(events.onAgain, retryMs)
  }
  openHlsVideo({ video, url, onFailure }).then(
    (hls) => {
      if (isClosed) return hls.close()
      close = () => hls.close()
      const setPaused = (isPaused: boolean) => {
        if (isPaused) return video.pause()
        if (video.readyState > 0) hls.toNewest()
        playVideo(video, events.onBlocked)
      }
      events.onOpened({ ...hls, setPaused })
      if (!events.isPaused()) playVideo(video, events.onBlocked)
    },
    () => onFailure('network'),
  )
  return () => {
    isClosed = true
    clearTimeout(timer)
    close()
    events.onOpened(undefined)
  }
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
