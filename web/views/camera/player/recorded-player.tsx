// A camera's recordings from a moment on. A jump within what the player holds is a seek, any other a new stream.

import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { NightjarError } from '../../../../sdk/index.ts'
import type { CameraKind } from '../../../app/camera-queries.ts'
import { useClient } from '../../../app/clients.tsx'
import { isLost } from '../../../app/queries.ts'
import { recordingsOf, writeTime } from '../footage-queries.ts'
import { type HlsVideo, openHlsVideo, playVideo } from './hls-video.ts'
import { type PlayerState, useProgress } from './player-state.ts'

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
  readonly onState: (state: PlayerState) => void
  /** No footage from there on, or it cannot be played. What passes by itself is tried again instead. */
  readonly onFailure: (failure: 'nothing' | 'unplayable' | unknown) => void
}

const tellIntervalMs = 250
const retryMs = 3_000

export function RecordedPlayer(props: RecordedPlayerProps) {
  const { kind, cameraId, atMs, jump, isPaused, isMuted, rate, label, onState } = props
  const client = useClient()
  const video = useRef<HTMLVideoElement>(null)
  const player = useRef<HlsVideo>(undefined)
  const retry = useRef<ReturnType<typeof setTimeout>>(undefined)
  const told = useRef(props)
  told.current = props
  const [stream, setStream] = useState<{ url: string; startMs: number }>()
  const { mutate: openStream } = useMutation({
    mutationFn: (startMs: number) => recordingsOf(client, kind).createStream(cameraId, { start: writeTime(startMs) }),
    onSuccess: ({ url }, startMs) => setStream({ url, startMs }),
    onError: (error, startMs) => {
      if (isLost(error)) {
        told.current.onState('waiting')
        clearTimeout(retry.current)
        retry.current = setTimeout(() => openStream(startMs), retryMs)
      } else told.current.onFailure(error instanceof NightjarError && error.status === 404 ? 'nothing' : error)
    },
  })
  // `jump` says that the same moment is wanted again.
  useEffect(() => {
    clearTimeout(retry.current)
    if (!player.current?.seek(atMs)) openStream(atMs)
  }, [atMs, jump, openStream])
  useEffect(() => () => clearTimeout(retry.current), [])
  useEffect(() => {
    const element = video.current
    if (!stream || !element) return
    let isClosed = false
    const onFailure = (reason: 'network' | 'media') => {
      if (isClosed) return
      if (reason === 'media') return told.current.onFailure('unplayable')
      // A server that restarts, or a stream that is too old: another one from where this one stood.
      told.current.onState('waiting')
      clearTimeout(retry.current)
      retry.current = setTimeout(() => openStream(player.current?.currentMs() ?? stream.startMs), retryMs)
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
  // Another stream has to be set going too.
  useEffect(() => {
    const element = video.current
    if (!element) return
    element.defaultPlaybackRate = rate
    element.playbackRate = rate
    if (isPaused) element.pause()
    else playVideo(element, () => told.current.onState('blocked'))
  }, [isPaused, rate, stream])
  useProgress(video, {
    isPaused: isPaused || !stream,
    of: `${stream?.url} ${jump}`,
    onState,
    // At the newest picture it waits for the next one; everywhere else another stream may know more.
    onStuck: () => {
      const ms = player.current?.currentMs()
      if (ms !== undefined && ms < Date.now() - 30_000) openStream(ms)
    },
  })
  return <video ref={video} className="picture" aria-label={label} autoPlay={!isPaused} muted={isMuted} playsInline />
}
