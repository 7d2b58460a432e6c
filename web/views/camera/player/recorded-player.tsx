// A camera's recordings from a moment on. A jump within what the player holds is a seek, any other a new stream.

import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { NightjarError } from '../../../../sdk/index.ts'
import type { CameraKind } from '../../../app/camera-queries.ts'
import { useClient } from '../../../app/clients.tsx'
import { recordingsOf, writeTime } from '../footage-queries.ts'
import { type HlsVideo, openHlsVideo } from './hls-video.ts'

export type RecordedPlayerProps = {
  readonly kind: CameraKind
  readonly cameraId: number
  /** Where to play; another value is a jump, also to the same moment when `jump` differs. */
  readonly atMs: number
  readonly jump: number
  readonly isPaused: boolean
  readonly isMuted: boolean
  readonly rate: number
  readonly label: string
  /** Wall clock of the picture, about four times a second. */
  readonly onTime: (ms: number) => void
  /** No footage from there on, or it cannot be played. */
  readonly onFailure: (failure: 'nothing' | 'unplayable' | unknown) => void
}

const tellIntervalMs = 250
const retryMs = 3_000

export function RecordedPlayer(props: RecordedPlayerProps) {
  const { kind, cameraId, atMs, jump, isPaused, isMuted, rate, label } = props
  const client = useClient()
  const video = useRef<HTMLVideoElement>(null)
  const player = useRef<HlsVideo>(undefined)
  const told = useRef(props)
  told.current = props
  const [stream, setStream] = useState<{ url: string; startMs: number }>()
  const { mutate: openStream } = useMutation({
    mutationFn: (startMs: number) => recordingsOf(client, kind).createStream(cameraId, { start: writeTime(startMs) }),
    onSuccess: ({ url }, startMs) => setStream({ url, startMs }),
    onError: (error) =>
      told.current.onFailure(error instanceof NightjarError && error.status === 404 ? 'nothing' : error),
  })
  useEffect(() => {
    if (!player.current?.seek(atMs)) openStream(atMs)
  }, [atMs, jump, openStream])
  useEffect(() => {
    const element = video.current
    if (!stream || !element) return
    let isClosed = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const onFailure = (reason: 'network' | 'media') => {
      if (reason === 'media') told.current.onFailure('unplayable')
      // A server that restarts, or a stream that is too old: another one from where this one stood.
      else timer = setTimeout(() => openStream(player.current?.currentMs() ?? stream.startMs), retryMs)
    }
    openHlsVideo({ video: element, url: stream.url, startMs: stream.startMs, onFailure }).then(
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
  }, [stream, openStream])
  useEffect(() => {
    const timer = setInterval(() => {
      const ms = player.current?.currentMs()
      if (ms !== undefined && !video.current?.seeking) told.current.onTime(ms)
    }, tellIntervalMs)
    return () => clearInterval(timer)
  }, [])
  useEffect(() => {
    const element = video.current
    if (!element) return
    element.playbackRate = rate
    if (isPaused) element.pause()
    // Refused where the person has not touched the page yet; the button then plays.
    else element.play().catch(() => {})
  }, [isPaused, rate, stream])
  return <video ref={video} className="picture" aria-label={label} muted={isMuted} playsInline />
}
