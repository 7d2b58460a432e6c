// Plays a camera's recordings from a given moment. A jump within the loaded playlist is a seek; any other creates a new
// stream.

import { useMutation } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { NightjarError } from '../../../../sdk/index.ts'
import type { CameraKind } from '../../../app/camera-queries.ts'
import { useClient } from '../../../app/clients.tsx'
import { isLost } from '../../../app/queries.ts'
import { divideRate, LagMeter } from '../../../model/play-rate.ts'
import { recordingsOf, writeTime } from '../footage-queries.ts'
import { type HlsVideo, openHlsVideo, playVideo } from './hls-video.ts'
import { type PlayerState, useProgress } from './player-state.ts'

export type RecordedPlayerProps = {
  readonly kind: CameraKind
  readonly cameraId: number
  /** Where to play. Another value is a jump; so is the same moment with another `jump`. */
  readonly atMs: number
  readonly jump: number
  readonly isPaused: boolean
  readonly isMuted: boolean
  readonly rate: number
  readonly label: string
  /** Reports the wall-clock time of the displayed frame, about four times per second. */
  readonly onTime: (ms: number) => void
  readonly onState: (state: PlayerState) => void
  /** There is no footage from there on, or it cannot be played. Temporary errors are retried instead. */
  readonly onFailure: (failure: 'nothing' | 'unplayable' | unknown) => void
}

const tellIntervalMs = 250
const retryMs = 3_000
/** Footage this recent may not be available yet. */
const freshMs = 30_000

type Wanted = { readonly startMs: number; readonly speed: number }
type Opened = { readonly asked: Wanted; readonly url: string }

export function RecordedPlayer(props: RecordedPlayerProps) {
  const { kind, cameraId, atMs, jump, isPaused, isMuted, rate, label, onState } = props
  const client = useClient()
  const video = useRef<HTMLVideoElement>(null)
  const player = useRef<HlsVideo>(undefined)
  const retry = useRef<ReturnType<typeof setTimeout>>(undefined)
  const callbacks = useRef(props)
  callbacks.current = props
  const [keepsUp, setKeepsUp] = useState(true)
  const { stream: speed, video: videoRate } = divideRate(rate, keepsUp)
  const wantedSpeed = useRef(speed)
  wantedSpeed.current = speed
  const lag = useRef(new LagMeter())
  const [stream, setStream] = useState<Opened>()
  /** The latest request; results of earlier ones are discarded. */
  const wanted = useRef<Wanted>(undefined)
  /** Until the player of the new stream has replaced that of the old one, whose time would be taken for the new one. */
  const isOpening = useRef(false)
  /** Last displayed moment, to resume from. */
  const shownMs = useRef<number>(undefined)
  const { mutate } = useMutation({
    mutationFn: async (asked: Wanted): Promise<Opened> => {
      const opened = await recordingsOf(client, kind).createStream(cameraId, { start: writeTime(asked.startMs) })
      if (asked.speed !== 1) await client.streams.setSpeed(opened, asked.speed)
      return { asked, url: opened.url }
    },
    onSuccess: (opened, asked) => {
      if (asked === wanted.current) setStream(opened)
    },
    onError: (error, asked) => {
      if (asked !== wanted.current) return
      if (isLost(error)) {
        callbacks.current.onState('waiting')
        retry.current = setTimeout(() => openStream(asked.startMs), retryMs)
        return
      }
      // Keep playing the previous stream.
      isOpening.current = false
      callbacks.current.onFailure(error instanceof NightjarError && error.status === 404 ? 'nothing' : error)
    },
  })
  const openStream = useCallback(
    (startMs: number) => {
      clearTimeout(retry.current)
      isOpening.current = true
      shownMs.current = undefined
      wanted.current = { startMs, speed: wantedSpeed.current }
      mutate(wanted.current)
    },
    [mutate],
  )
  // A change of `jump` requests the same moment again.
  useEffect(() => {
    lag.current.reset()
    if (isOpening.current || !player.current?.seek(atMs)) openStream(atMs)
    else shownMs.current = undefined
  }, [atMs, jump, openStream])
  useEffect(() => () => clearTimeout(retry.current), [])
  useEffect(() => {
    const asked = wanted.current
    if (asked && asked.speed !== speed) openStream(shownMs.current ?? callbacks.current.atMs)
  }, [speed, openStream])
  useEffect(() => {
    const element = video.current
    if (!stream || !element) return
    let isClosed = false
    if (stream.asked === wanted.current) isOpening.current = false
    const onFailure = (reason: 'network' | 'media', nextMs?: number) => {
      if (isClosed) return
      if (reason === 'media') {
        // Footage in between that the browser cannot play is passed over. Where it was asked for, that is told.
        const isBetween = shownMs.current !== undefined && nextMs !== undefined
        return isBetween ? openStream(nextMs) : callbacks.current.onFailure('unplayable')
      }
      // The server restarted or the stream expired: create another one at the same position.
      callbacks.current.onState('waiting')
      clearTimeout(retry.current)
      retry.current = setTimeout(() => openStream(shownMs.current ?? callbacks.current.atMs), retryMs)
    }
    openHlsVideo({ video: element, url: stream.url, ...stream.asked, onFailure }).then(
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
      if (ms === undefined || isOpening.current || video.current?.seeking) return
      shownMs.current = ms
      callbacks.current.onTime(ms)
      const { isPaused, rate } = callbacks.current
      // Near the live edge, playback cannot be faster, and browsers throttle hidden tabs.
      const isFast = rate > 1 && wantedSpeed.current === 1 && !isPaused && !document.hidden
      if (!isFast || ms > Date.now() - freshMs) lag.current.reset()
      else if (lag.current.isBehind(performance.now(), ms, rate)) setKeepsUp(false)
    }, tellIntervalMs)
    return () => clearInterval(timer)
  }, [])
  // Another stream has to be started as well.
  useEffect(() => {
    const element = video.current
    if (!element) return
    element.defaultPlaybackRate = videoRate
    element.playbackRate = videoRate
    if (isPaused) element.pause()
    else playVideo(element, () => callbacks.current.onState('blocked'))
  }, [isPaused, videoRate, stream])
  useProgress(video, {
    isPaused: isPaused || !stream,
    of: `${stream?.url} ${jump}`,
    onState,
    // At the newest frame the player waits for the next one. Anywhere else, a new stream may contain more.
    onStuck: () => {
      const ms = shownMs.current
      if (ms !== undefined && ms < Date.now() - freshMs) openStream(ms)
    },
  })
  return <video ref={video} className="media" aria-label={label} autoPlay={!isPaused} muted={isMuted} playsInline />
}
