// What the camera page plays: live, or recordings from the moment in the URL; speed, audio, and the visible part of the
// timeline.

import { useCallback, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { follow, followPlaying, type View, viewOfDay, viewOfRecent } from '../../model/timeline-view.ts'
import type { Zone } from '../../model/zone.ts'
import { writeTime } from './footage-queries.ts'
import type { LiveReport, LiveTransport } from './player/live-player.tsx'
import type { PlayerState } from './player/player-state.ts'

export type Playback = {
  readonly isLive: boolean
  /** The requested moment; a change of `jump` requests it again. */
  readonly atMs: number
  readonly jump: number
  /** The displayed moment. */
  readonly cursorMs: number
  readonly isPaused: boolean
  readonly isMuted: boolean
  readonly rate: number
  readonly state: PlayerState
  readonly failure: unknown
  /** What this browser shows live, as the viewer chose; undefined: the best there is. */
  readonly transport: LiveTransport | undefined
  readonly live: LiveReport | undefined
  readonly view: View
  /** Plays from there. */
  readonly play: (ms: number) => void
  /** Seeks there; paused playback stays paused. */
  readonly seek: (ms: number) => void
  readonly goLive: () => void
  readonly setPaused: (isPaused: boolean) => void
  readonly setMuted: (isMuted: boolean) => void
  readonly setRate: (rate: number) => void
  /** Changes when the viewer asks to try the transport again. */
  readonly liveAttempt: number
  readonly retryLive: () => void
  readonly setTransport: (transport: LiveTransport | undefined) => void
  readonly setView: (view: View) => void
  /** Undefined if unknown; the current time is used. */
  readonly noteTime: (ms: number | undefined) => void
  readonly noteState: (state: PlayerState) => void
  readonly noteFailure: (failure: unknown) => void
  readonly noteLive: (report: LiveReport) => void
}

/** At faster than normal speed, playback ends here. */
const newestMs = 8_000

/** Live images that are further behind say so. */
const shownFromMs = 1_000

const transportKey = 'nightjar.live'
const transports: readonly LiveTransport[] = ['fast', 'hls', 'images']

/** Without `hasRecording`, a moment in the URL is ignored. */
export function usePlayback(hasRecording: boolean, nowMs: number, zone: Zone): Playback {
  const [search, setSearch] = useSearchParams()
  const askedMs = hasRecording ? readMoment(search.get('at')) : undefined
  const isLive = askedMs === undefined
  const [shownMs, setShownMs] = useState<number>()
  const lastReportedMs = useRef<number>(undefined)
  const [jump, setJump] = useState(0)
  const [isPaused, setPaused] = useState(false)
  const [isMuted, setMuted] = useState(true)
  const [rate, setRate] = useState(1)
  const [state, setState] = useState<PlayerState>('starting')
  const [failure, setFailure] = useState<unknown>()
  const [transport, keepTransport] = useState<LiveTransport | undefined>(() =>
    transports.find((each) => each === localStorage.getItem(transportKey)),
  )
  const [live, setLive] = useState<LiveReport>()
  const [liveAttempt, setLiveAttempt] = useState(0)
  const retryLive = useCallback(() => setLiveAttempt((before) => before + 1), [])
  const [view, setView] = useState<View>(() => (askedMs === undefined ? viewOfRecent(nowMs) : viewOfDay(askedMs, zone)))

  const begin = useCallback((ms: number) => {
    setFailure(undefined)
    setState('starting')
    lastReportedMs.current = undefined
    setShownMs(undefined)
    setView((before) => follow(before, ms))
  }, [])
  const seek = useCallback(
    (ms: number) => {
      const wantedMs = Math.floor(Math.min(ms, Date.now()) / 1000) * 1000
      begin(wantedMs)
      setJump((before) => before + 1)
      setSearch({ at: writeSeconds(wantedMs) }, { replace: true })
    },
    [begin, setSearch],
  )
  const play = useCallback(
    (ms: number) => {
      setPaused(false)
      seek(ms)
    },
    [seek],
  )
  const goLive = useCallback(() => {
    begin(Date.now())
    setPaused(false)
    setRate(1)
    setSearch({}, { replace: true })
  }, [begin, setSearch])
  const noteTime = useCallback((ms: number | undefined) => {
    const beforeMs = lastReportedMs.current
    if (ms !== undefined && beforeMs !== undefined) setView((view) => followPlaying(view, beforeMs, ms, Date.now()))
    lastReportedMs.current = ms
    setShownMs(ms)
    if (ms !== undefined && ms > Date.now() - newestMs) setRate((before) => Math.min(1, before))
  }, [])
  const noteState = useCallback((now: PlayerState) => {
    setState(now)
    // Playback then starts with the button.
    if (now === 'blocked') setPaused(true)
  }, [])
  const noteLive = useCallback((now: LiveReport) => {
    // Only what is displayed causes a rendering.
    const isSame = (before: LiveReport | undefined) =>
      before?.transport === now.transport &&
      before.fallback === now.fallback &&
      roundBehind(before.behindMs) === roundBehind(now.behindMs)
    setLive((before) => (isSame(before) ? before : now))
  }, [])
  const setTransport = useCallback((wanted: LiveTransport | undefined) => {
    keepTransport(wanted)
    if (wanted === undefined) localStorage.removeItem(transportKey)
    else localStorage.setItem(transportKey, wanted)
  }, [])
  return {
    ...{ isLive, atMs: askedMs ?? nowMs, jump, cursorMs: shownMs ?? askedMs ?? nowMs },
    ...{ isPaused, isMuted, rate, state, failure, transport, live, liveAttempt, view },
    ...{ play, seek, goLive, setPaused, setMuted, setRate, setTransport, setView, retryLive },
    ...{ noteTime, noteState, noteFailure: setFailure, noteLive },
  }
}

/** How far behind to say a live image is, in seconds; undefined if that is too little to say, or unknown. */
export function roundBehind(behindMs: number | undefined): number | undefined {
  return behindMs === undefined || behindMs < shownFromMs ? undefined : Math.round(behindMs / 1000)
}

function readMoment(text: string | null): number | undefined {
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** In the format of the API. */
export function writeSeconds(ms: number): string {
  return writeTime(Math.floor(ms / 1000) * 1000).replace('.000', '')
}
