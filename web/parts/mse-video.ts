// A video element that shows a camera as it is now: the endless MP4 stream, read with `fetch` and played with Media
// Source Extensions, close to its newest frame (live-edge.ts).
//
// Stays with its element over interruptions: the next connection continues on the same time axis, so that the last
// image stays until the first new one. A hidden page and a paused player receive nothing.

import { LiveEdge } from '../model/live-edge.ts'
import { concat, LiveFragments, type LiveFrame, type LivePart, type LiveTrack } from '../model/live-fragments.ts'

export type MseVideoOptions = {
  readonly video: HTMLVideoElement
  /** The URL of the camera's MP4 stream. Called for each connection, because it is signed anew with each response. */
  readonly url: () => string | undefined
  readonly hasAudio: boolean
  /** Gives up when less than half of the frames are displayed for ten seconds: one of many videos. */
  readonly isOneOfMany?: boolean
  readonly onBlocked: () => void
  readonly onFailure: (reason: MseFailure) => void
}

/**
 * It cannot be played this way: the browser cannot decode it, it does not begin, which may be its decoder or a busy computer,
 * or the line or the computer is too slow.
 */
export type MseFailure = 'media' | 'notBegun' | 'slow'

export type MseVideo = {
  /** When the displayed frame was captured, Unix milliseconds; undefined before the first. */
  currentMs(): number | undefined
  /** How long ago that was, in milliseconds. */
  behindMs(): number | undefined
  setPaused(isPaused: boolean): void
  close(): void
}

type SourceClass = typeof MediaSource
/** Phones of Apple have only this one. It tells when it wants data. */
type ManagedSource = MediaSource & { readonly streaming?: boolean }

const tickMs = 250
/** Between two ticks that are further apart, the computer slept or the page was stopped. */
const sleptMs = 3_000
const retryMs = [0, 500, 1_000, 2_000, 4_000, 8_000]
/** A stream that ends sooner counts as a failure. */
const shortMs = 2_000
/** Frames of a group that arrive together are decoded at once; none of them is shown before this age. */
const caughtUpMs = 400
const maxCatchUpMs = 1_500
/** A connection that brings nothing for so long is given up. */
const silentMs = 12_000
/** A busy computer is not helped by connections that begin again and again. */
const restartEveryMs = 10_000
const keepBehindSeconds = 4
const trimFromSeconds = 10
/** Frames that are remembered, of a stream without key frames as well. */
const maxFrames = 20_000
/** Nothing was displayed for so long, although frames arrived. */
const frozenMs = 1_000
/** The source buffer does not report that it has taken the data. */
const stuckMs = 2_000
/** A line on which frames arrive this late does not carry the stream. */
const slowMs = 1_500
const slowForMs = 3_000
const maxSlow = 3
/** Of the time in which frames are counted, and how often in a row too few of them may be displayed. */
const overloadMs = 5_000
const maxOverloads = 2
const slowWithinMs = 60_000
const secondErrorWithinMs = 30_000

export function findMediaSource(): SourceClass | undefined {
  const scope = globalThis as { MediaSource?: SourceClass; ManagedMediaSource?: SourceClass }
  return scope.MediaSource ?? scope.ManagedMediaSource
}

export function openMseVideo(options: MseVideoOptions): MseVideo {
  const player = new Player(options)
  return {
    currentMs: () => player.currentMs(),
    behindMs: () => player.behindMs(),
    setPaused: (isPaused) => player.setPaused(isPaused),
    close: () => player.close(),
  }
}

/** The data for one track that its source buffer has not taken yet. */
class Feed {
  readonly #buffer: SourceBuffer
  readonly #onError: (error: unknown) => void
  #waiting: Uint8Array<ArrayBuffer>[] = []
  #sinceMs: number | undefined
  #appendedMs = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  constructor(buffer: SourceBuffer, onError: (error: unknown) => void) {
    this.#buffer = buffer
    this.#onError = onError
    buffer.addEventListener('updateend', () => {
      this.#sinceMs = undefined
      this.pump()
    })
  }

  get buffered(): TimeRanges | undefined {
    try {
      return this.#buffer.buffered
    } catch {
      return undefined // the source was closed
    }
  }

  get isStuck(): boolean {
    return this.#sinceMs !== undefined && performance.now() - this.#sinceMs > stuckMs
  }

  add(bytes: Uint8Array<ArrayBuffer>): void {
    this.#waiting.push(bytes)
  }

  /** Some browsers stop taking data if each frame is a call of its own, so all that waits goes together. */
  pump(): void {
    if (this.#isClosed || this.#buffer.updating || this.#waiting.length === 0) return
    const nowMs = performance.now()
    const restMs = this.#appendedMs + ofBrowser.takesEveryMs - nowMs
    if (restMs > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined
        this.pump()
      }, restMs)
      return
    }
    const bytes = concat(this.#waiting)
    this.#waiting = []
    this.#appendedMs = nowMs
    this.#sinceMs = nowMs
    try {
      this.#buffer.appendBuffer(bytes)
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Times of what is appended from now on begin here. Waits until nothing of the stream before is left. */
  async continueAt(seconds: number, signal: AbortSignal): Promise<void> {
    while (this.#waiting.length > 0 || this.#buffer.updating) {
      this.pump()
      await waitFor(this.#buffer, 'updateend', signal)
    }
    this.#buffer.abort()
    this.#buffer.timestampOffset = seconds
  }

  /** Its source is gone. */
  close(): void {
    this.#isClosed = true
  }

  /** Removes what is before; not while data are being taken. */
  trim(seconds: number): void {
    if (this.#buffer.updating || seconds <= 0) return
    this.#buffer.remove(0, seconds)
  }
}

/**
 * Safari stops taking data after some seconds of an append for each frame (OpenIPC/majestic-webui pull request 411), and
 * playback is interrupted by changes of speed (video-dev/hls.js pull request 4618).
 */
const ofSafari = { takesEveryMs: 100, hasOneSpeed: true }
const ofBrowser = navigator.vendor.startsWith('Apple') ? ofSafari : { takesEveryMs: 0, hasOneSpeed: false }

/** What one connection brought so far. */
type Connection = {
  readonly startedMs: number
  /** Added to `performance.now()`, the server's time. */
  readonly serverMinusPageMs: number
  newest: LiveFrame | undefined
  /** How old the newest frame was when it arrived. */
  newestAgeMs: number
  /** The delay of the camera itself, and of the line at its best. */
  leastAgeMs: number
  hasCaughtUp: boolean
  lateSinceMs: number | undefined
}

class Player {
  readonly #options: MseVideoOptions
  readonly #edge = new LiveEdge(ofBrowser)
  readonly #closing = new AbortController()
  readonly #timer: ReturnType<typeof setInterval>
  #source: MediaSource | undefined
  #sourceUrl: string | undefined
  /** Of the last image of the previous source, displayed until the first of this one. */
  #keptUrl: string | undefined
  #type: string | undefined
  #feeds = new Map<LiveTrack, Feed>()
  #reading: AbortController | undefined
  #connection: Connection | undefined
  /** Frames on the time axis of the element. */
  #frames: LiveFrame[] = []
  #isPaused = false
  #isRunning = false
  #failures = 0
  #lastTickMs = performance.now()
  /** When data arrived last, or were asked for. */
  #heardMs = performance.now()
  #painted = 0
  #hasPlayed = false
  /** Frames that arrived and frames that were displayed, at the beginning of the current look. */
  #load = { sinceMs: 0, arrived: 0, painted: 0 }
  #arrived = 0
  #overloads = 0
  #paintedMs = performance.now()
  #hasNudged = false
  #restartedMs = Number.NEGATIVE_INFINITY
  #erredMs = Number.NEGATIVE_INFINITY
  #slow: number[] = []

  constructor(options: MseVideoOptions) {
    this.#options = options
    const { video } = options
    const { signal } = this.#closing
    video.addEventListener('error', () => this.#rebuild(), { signal })
    document.addEventListener('visibilitychange', () => this.#update(), { signal })
    window.addEventListener('online', () => this.#restart(), { signal })
    // The page was kept while the viewer was elsewhere.
    window.addEventListener('pageshow', ({ persisted }) => persisted && this.#restart(), { signal })
    // Browsers pause videos that nobody sees, and go on by themselves only sometimes.
    video.addEventListener('pause', () => this.#wanted && this.#play(), { signal })
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#update()
  }

  currentMs(): number | undefined {
    const { video } = this.#options
    if (video.readyState < video.HAVE_CURRENT_DATA) return undefined
    const place = video.currentTime
    const index = this.#frames.findLastIndex(({ seconds }) => seconds <= place + 0.001)
    return this.#frames[index]?.wallMs
  }

  behindMs(): number | undefined {
    const shownMs = this.currentMs()
    if (shownMs === undefined || !this.#connection) return undefined
    return performance.now() + this.#connection.serverMinusPageMs - shownMs
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused
    this.#update()
  }

  close(): void {
    const { video } = this.#options
    this.#closing.abort()
    this.#reading?.abort()
    clearInterval(this.#timer)
    this.#detach()
    if (this.#keptUrl !== undefined) URL.revokeObjectURL(this.#keptUrl)
    video.removeAttribute('src')
    video.load()
  }

  /** Nobody sees a hidden page, but it may be listened to. */
  get #wanted(): boolean {
    return !this.#isPaused && !this.#closing.signal.aborted && (!document.hidden || this.#options.hasAudio)
  }

  #update(): void {
    if (this.#wanted) {
      if (!this.#isRunning) void this.#run()
      return
    }
    this.#reading?.abort()
    if (this.#isPaused) this.#options.video.pause()
  }

  /** Opens another connection, which begins with the newest frames. */
  #restart(): void {
    this.#failures = 0
    this.#reading?.abort()
    if (this.#wanted && !this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#wanted) {
      const reading = new AbortController()
      this.#reading = reading
      const begunMs = performance.now()
      const hasEnded = await this.#readStream(reading.signal).then(
        () => true,
        () => false,
      )
      // The next run of a camera begins at once. One that comes and goes is not requested ever faster.
      if (!reading.signal.aborted) {
        const isShort = performance.now() - begunMs < shortMs
        this.#failures = isShort ? this.#failures + 1 : hasEnded ? 0 : 1
      }
      if (!this.#wanted) break
      const waitMs = retryMs[Math.min(this.#failures, retryMs.length - 1)]!
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
    this.#isRunning = false
  }

  /** Returns when the stream has ended. Throws when there is none, it cannot be read, or `signal` aborts. */
  async #readStream(signal: AbortSignal): Promise<void> {
    const { url: findUrl, hasAudio, onFailure } = this.#options
    const url = findUrl()
    if (url === undefined) throw new Error('the camera has no stream')
    const address = new URL(url)
    address.searchParams.set('tracks', hasAudio ? 'video,audio' : 'video')
    this.#heardMs = performance.now()
    const response = await fetch(address, { signal, cache: 'no-store' })
    if (!response.ok || !response.body) throw new Error(`status ${response.status}`)
    const type = response.headers.get('content-type') ?? ''
    if (!findMediaSource()?.isTypeSupported(type)) {
      this.#isPaused = true
      this.#reading?.abort()
      onFailure('media')
      return
    }
    const nowMs = performance.now()
    this.#connection = {
      startedMs: nowMs,
      serverMinusPageMs: Number(response.headers.get('nightjar-clock')) - nowMs,
      newest: undefined,
      newestAgeMs: 0,
      leastAgeMs: Number.POSITIVE_INFINITY,
      hasCaughtUp: false,
      lateSinceMs: undefined,
    }
    this.#edge.reset()
    const offset = await this.#prepare(type, signal)
    const fragments = new LiveFragments()
    const reader = response.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      this.#heardMs = performance.now()
      for (const part of fragments.push(value)) this.#append(part, offset)
      for (const feed of this.#feeds.values()) feed.pump()
      this.#catchUp()
    }
  }

  /** Makes the source ready for a stream of this type. Returns where its times begin on the axis of the element. */
  async #prepare(type: string, signal: AbortSignal): Promise<number> {
    if (this.#source?.readyState === 'open' && this.#type === type) {
      const end = this.#endSeconds
      for (const feed of this.#feeds.values()) await feed.continueAt(end, signal)
      return end
    }
    await this.#attach(type, signal)
    return 0
  }

  async #attach(type: string, signal: AbortSignal): Promise<void> {
    const { video } = this.#options
    const keptUrl = await copyImage(video)
    signal.throwIfAborted()
    if (keptUrl !== undefined) {
      if (this.#keptUrl !== undefined) URL.revokeObjectURL(this.#keptUrl)
      this.#keptUrl = keptUrl
      video.poster = keptUrl
    }
    this.#detach()
    const Source = findMediaSource()!
    const source: ManagedSource = new Source()
    this.#source = source
    this.#type = type
    // A managed source opens only where the video cannot be sent to another device.
    video.disableRemotePlayback = true
    this.#sourceUrl = URL.createObjectURL(source)
    video.src = this.#sourceUrl
    await waitFor(source, 'sourceopen', AbortSignal.any([signal, AbortSignal.timeout(stuckMs)]))
    // Without one, some browsers take the end of what they have for the end of the video.
    source.duration = Number.POSITIVE_INFINITY
    const [, container = '', codecs = ''] = /^([^;]*);.*"(.*)"/.exec(type) ?? []
    for (const [i, codec] of codecs.split(',').entries()) {
      const buffer = source.addSourceBuffer(`${container}; codecs="${codec}"`)
      const onError = (error: unknown) => this.#onAppendError(error)
      this.#feeds.set(i === 0 ? 'video' : 'audio', new Feed(buffer, onError))
    }
  }

  #detach(): void {
    if (this.#sourceUrl !== undefined) URL.revokeObjectURL(this.#sourceUrl)
    this.#sourceUrl = undefined
    this.#source = undefined
    this.#type = undefined
    for (const feed of this.#feeds.values()) feed.close()
    this.#feeds = new Map()
    this.#frames = []
    this.#edge.reset()
  }

  #append({ track, bytes, frame }: LivePart, offset: number): void {
    const feed = this.#feeds.get(track)
    if (!feed) return
    feed.add(bytes)
    if (!frame) return
    const placed = { ...frame, seconds: frame.seconds + offset }
    this.#frames.push(placed)
    if (this.#frames.length > maxFrames) this.#frames.splice(0, maxFrames / 2)
    const connection = this.#connection!
    const nowMs = performance.now()
    connection.newest = placed
    connection.newestAgeMs = nowMs + connection.serverMinusPageMs - frame.wallMs
    connection.leastAgeMs = Math.min(connection.leastAgeMs, connection.newestAgeMs)
    if (!connection.hasCaughtUp) return
    this.#arrived++
    this.#edge.note(nowMs, placed.seconds)
  }

  /** Where the newest frame ends. */
  get #endSeconds(): number {
    const { buffered } = this.#feeds.get('video') ?? {}
    return buffered && buffered.length > 0 ? buffered.end(buffered.length - 1) : 0
  }

  /** Begins to play when the newest frames have arrived: those before them are only decoded. */
  #catchUp(): void {
    const connection = this.#connection
    if (!connection?.newest || connection.hasCaughtUp) return
    const nowMs = performance.now()
    if (connection.newestAgeMs > caughtUpMs && nowMs - connection.startedMs < maxCatchUpMs) return
    connection.hasCaughtUp = true
    this.#edge.note(nowMs, connection.newest.seconds)
    this.#toNewest()
    this.#play()
  }

  #toNewest(): void {
    const { video } = this.#options
    const newest = this.#connection?.newest
    const oldest = this.#frames[0]
    if (!newest || !oldest) return
    video.currentTime = Math.max(oldest.seconds, newest.seconds - this.#edge.targetSeconds)
    video.playbackRate = 1
    this.#paintedMs = performance.now()
  }

  #play(): void {
    this.#options.video.play().catch((error: Error) => {
      if (error.name === 'NotAllowedError') this.#options.onBlocked()
    })
  }

  #tick(): void {
    const nowMs = performance.now()
    const sleptForMs = nowMs - this.#lastTickMs
    this.#lastTickMs = nowMs
    if (!this.#wanted) return
    const patienceMs = Math.max(silentMs, (this.#edge.intervalSeconds ?? 0) * 3000)
    if (sleptForMs > sleptMs || nowMs - this.#heardMs > patienceMs) this.#restartSeldom(nowMs)
    else if ([...this.#feeds.values()].some(({ isStuck }) => isStuck)) this.#thaw(nowMs)
    else if (this.#connection?.hasCaughtUp && !this.#isSlow(nowMs)) this.#steer(nowMs)
  }

  #steer(nowMs: number): void {
    const { video, hasAudio } = this.#options
    this.#watchPainted(nowMs)
    if (this.#options.isOneOfMany) this.#watchLoad(nowMs)
    // Before the first frame is displayed, the decoder is still on its way.
    if (this.#painted === 0 || video.seeking) return
    const step = this.#edge.decide(nowMs, video.currentTime, hasAudio && !video.muted)
    if (step?.kind === 'jump') this.#toNewest()
    else if (step) video.playbackRate = step.rate
    this.#trim()
  }

  /** A line that is too slow delivers ever older frames. Another connection begins with the newest ones. */
  #isSlow(nowMs: number): boolean {
    const connection = this.#connection!
    if (connection.newestAgeMs - connection.leastAgeMs < slowMs) {
      connection.lateSinceMs = undefined
      return false
    }
    connection.lateSinceMs ??= nowMs
    if (nowMs - connection.lateSinceMs < slowForMs) return false
    if (this.#isTooSlow(nowMs)) this.#fail('slow')
    else this.#restartSeldom(nowMs)
    connection.lateSinceMs = undefined
    return true
  }

  #isTooSlow(nowMs: number): boolean {
    this.#slow = [...this.#slow.filter((ms) => nowMs - ms < slowWithinMs), nowMs]
    return this.#slow.length >= maxSlow
  }

  #restartSeldom(nowMs: number): void {
    if (nowMs - this.#restartedMs < restartEveryMs) return
    this.#restartedMs = nowMs
    this.#restart()
  }

  #watchPainted(nowMs: number): void {
    const { video } = this.#options
    const { totalVideoFrames, droppedVideoFrames } = video.getVideoPlaybackQuality()
    const painted = totalVideoFrames - droppedVideoFrames
    const newestSeconds = this.#connection?.newest?.seconds ?? 0
    const isSilent = newestSeconds - video.currentTime <= (this.#edge.intervalSeconds ?? 0)
    if (painted !== this.#painted || isSilent || video.paused) {
      if (painted !== this.#painted) this.#hasNudged = false
      this.#hasPlayed ||= painted > this.#painted
      this.#painted = painted
      this.#paintedMs = nowMs
      return
    }
    const limitMs = Math.max(frozenMs, (this.#edge.intervalSeconds ?? 0) * 3000)
    if (nowMs - this.#paintedMs < limitMs) return
    if (this.#hasNudged) this.#thaw(nowMs)
    else {
      this.#hasNudged = true
      this.#toNewest()
    }
  }

  /** A computer that displays less than half of the frames is better off with images. */
  #watchLoad(nowMs: number): void {
    const { sinceMs, arrived, painted } = this.#load
    if (nowMs - sinceMs < overloadMs) return
    const wasWatched = nowMs - sinceMs < 2 * overloadMs && painted <= this.#painted
    if (wasWatched && this.#painted - painted < (this.#arrived - arrived) / 2) this.#overloads++
    else this.#overloads = 0
    this.#load = { sinceMs: nowMs, arrived: this.#arrived, painted: this.#painted }
    if (this.#overloads >= maxOverloads) this.#fail('slow')
  }

  #trim(): void {
    const { video } = this.#options
    const before = video.currentTime - keepBehindSeconds
    const oldest = this.#frames[0]
    if (!oldest || oldest.seconds > video.currentTime - trimFromSeconds) return
    // What is removed takes the frames that depend on it with it.
    const index = this.#frames.findLastIndex(({ seconds, isKey }) => isKey && seconds < before)
    if (index <= 0) return
    const { seconds } = this.#frames[index]!
    this.#frames.splice(0, index)
    for (const feed of this.#feeds.values()) feed.trim(seconds - 0.001)
  }

  #onAppendError(error: unknown): void {
    if (error instanceof DOMException && error.name === 'QuotaExceededError') this.#trim()
    this.#rebuild()
  }

  /**
   * The browser neither takes nor displays anything. One that has displayed this camera can play it: it gets no processor, or
   * its decoder hangs, and another source follows, seldom.
   */
  #thaw(nowMs: number): void {
    if (!this.#hasPlayed) this.#rebuild('notBegun')
    else if (nowMs - this.#restartedMs < restartEveryMs) return
    else if (this.#isTooSlow(nowMs)) this.#fail('slow')
    else {
      this.#detach()
      this.#restartSeldom(nowMs)
    }
  }

  /** Begins anew with another source. A browser that fails twice in a short time does not play the stream. */
  #rebuild(reason: MseFailure = 'media'): void {
    if (!this.#source) return
    const nowMs = performance.now()
    const isSecond = nowMs - this.#erredMs < secondErrorWithinMs
    this.#erredMs = nowMs
    this.#detach()
    if (isSecond) this.#fail(reason)
    else this.#restart()
  }

  #fail(reason: MseFailure): void {
    this.#isPaused = true
    this.#reading?.abort()
    this.#options.onFailure(reason)
  }
}

/** Throws when `signal` aborts first. */
function waitFor(target: EventTarget, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const listening = new AbortController()
    const end = (settle: () => void) => {
      listening.abort()
      settle()
    }
    target.addEventListener(event, () => end(resolve), { signal: listening.signal })
    signal.addEventListener('abort', () => end(() => reject(signal.reason)), { signal: listening.signal })
    if (signal.aborted) end(() => reject(signal.reason))
  })
}

/** A URL of the current image; undefined while there is none. */
async function copyImage(video: HTMLVideoElement): Promise<string | undefined> {
  const { videoWidth: width, videoHeight: height } = video
  if (width === 0 || video.readyState < video.HAVE_CURRENT_DATA) return undefined
  const canvas = new OffscreenCanvas(width, height)
  canvas.getContext('2d')?.drawImage(video, 0, 0)
  return URL.createObjectURL(await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.8 }))
}
