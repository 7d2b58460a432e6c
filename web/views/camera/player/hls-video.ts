// A video element that plays HLS and knows the wall-clock time of the displayed frame. It uses hls.js where the browser
// has Media Source Extensions, and the browser's own player otherwise. hls.js is loaded on first use.

export type HlsVideo = {
  /** Wall-clock time of the displayed frame, Unix milliseconds; undefined before the first frame. */
  currentMs(): number | undefined
  /** How far the displayed frame is behind the newest of a live stream, in milliseconds; undefined if unknown. */
  behindMs(): number | undefined
  /** Seeks to another moment. Returns false if the playlist does not contain it. */
  seek(ms: number): boolean
  /** Seeks to the newest part of a live stream. */
  toNewest(): void
  close(): void
}

/** Before the user has interacted with the page, browsers may refuse to play audio: `onBlocked`. */
export function playVideo(video: HTMLVideoElement, onBlocked: () => void): void {
  video.play().catch((error: Error) => {
    // Other refusals come from a video that was closed or has no data yet; it starts by itself.
    if (error.name === 'NotAllowedError') onBlocked()
  })
}

export type HlsVideoOptions = {
  readonly video: HTMLVideoElement
  readonly url: string
  /** Where to begin; a live stream begins at its newest frame. */
  readonly startMs?: number | undefined
  /** Speed of the recorded stream itself; defaults to 1. */
  readonly speed?: number | undefined
  /**
   * Playback cannot continue: the stream is gone or the browser cannot play it. `nextMs`: where footage in another format
   * follows, if it is known.
   */
  readonly onFailure: (reason: 'network' | 'media', nextMs?: number) => void
}

export async function openHlsVideo(options: HlsVideoOptions): Promise<HlsVideo> {
  const { default: Hls } = await import('hls.js/light')
  if (Hls.isSupported()) return playWithHls(Hls, options)
  return playNatively(options)
}

/** A live playlist with two segments is enough to play its newest parts; do not wait for more. */
function beginEarly(url: string): string {
  const address = new URL(url)
  address.searchParams.set('start', 'early')
  return address.href
}

type HlsClass = typeof import('hls.js/light').default

function playWithHls(Hls: HlsClass, { video, url, startMs, speed = 1, onFailure }: HlsVideoOptions): HlsVideo {
  const hls = new Hls({
    // The hls.js worker is created from a blob URL, which the content security policy forbids.
    enableWorker: false,
    backBufferLength: 60,
    maxBufferLength: 20,
    ...(startMs !== undefined && { startPosition: 0 }),
  })
  let stalledMs = Number.NEGATIVE_INFINITY
  const followEdge = () => holdEdge(hls, video, performance.now() - stalledMs)
  if (startMs === undefined) video.addEventListener('timeupdate', followEdge)
  let hasRecovered = false
  let wantedMs = startMs
  /** Where the last fragment begins whose data the browser refused. */
  let refused: number | undefined
  hls.on(Hls.Events.ERROR, (_event, { fatal, type, details }) => {
    if (details === Hls.ErrorDetails.BUFFER_STALLED_ERROR) stalledMs = performance.now()
    if (details === Hls.ErrorDetails.MEDIA_SOURCE_REQUIRES_RESET) {
      // hls.js resets and tries again without end.
      if (refused !== undefined && refused === loading?.start) {
        hls.stopLoad()
        onFailure('media', findOtherFormat())
      }
      refused = loading?.start
      return
    }
    if (!fatal) return
    if (type === Hls.ErrorTypes.MEDIA_ERROR && !hasRecovered) {
      hasRecovered = true
      hls.recoverMediaError()
      return
    }
    if (type === Hls.ErrorTypes.MEDIA_ERROR) onFailure('media', findOtherFormat())
    else onFailure('network')
  })
  let loading: { readonly start: number; readonly init: string | undefined } | undefined
  hls.on(Hls.Events.FRAG_LOADING, (_event, { frag }) => {
    if (frag.sn !== 'initSegment') loading = { start: frag.start, init: frag.initSegment?.url }
  })
  const findOtherFormat = (): number | undefined => {
    const { start = 0, init } = loading ?? {}
    const next = listFragments().find((each) => each.start > start && each.initSegment?.url !== init)
    return next?.programDateTime ?? undefined
  }
  const listFragments = () =>
    hls.levels[hls.currentLevel]?.details?.fragments ?? hls.levels[0]?.details?.fragments ?? []
  const findPlace = (ms: number): number | undefined => {
    const fragments = listFragments()
    const fragment = fragments.findLast(({ programDateTime }) => programDateTime !== null && programDateTime <= ms)
    if (!fragment || fragment.programDateTime === null) return undefined
    const offset = (ms - fragment.programDateTime) / 1000 / speed
    const isLast = fragment === fragments.at(-1)
    // A moment in a gap seeks to the next footage. A moment after the end is not available yet.
    return isLast && offset > fragment.duration ? undefined : fragment.start + Math.min(offset, fragment.duration)
  }
  // The first segment begins at the key frame before the requested moment.
  hls.on(Hls.Events.LEVEL_UPDATED, () => {
    const place = wantedMs === undefined ? undefined : findPlace(wantedMs)
    if (place === undefined) return
    wantedMs = undefined
    video.currentTime = place
  })
  hls.on(Hls.Events.FRAG_BUFFERED, () => {
    hasRecovered = false
  })
  hls.loadSource(startMs === undefined ? beginEarly(url) : url)
  hls.attachMedia(video)
  return {
    currentMs() {
      const place = video.currentTime
      const fragment = listFragments().findLast(({ start }) => start <= place)
      if (!fragment || fragment.programDateTime === null || video.readyState < video.HAVE_CURRENT_DATA) return undefined
      return fragment.programDateTime + Math.min(place - fragment.start, fragment.duration) * 1000 * speed
    },
    behindMs: () => (hls.latency > 0 ? hls.latency * 1000 : undefined),
    seek(ms) {
      const place = findPlace(ms)
      if (place === undefined) return false
      video.currentTime = place
      return true
    },
    toNewest() {
      if (hls.liveSyncPosition !== null) video.currentTime = hls.liveSyncPosition
    },
    close() {
      video.removeEventListener('timeupdate', followEdge)
      hls.destroy()
    },
  }
}

/** After a stall, hls.js stays a second later than it was asked to, and later still after the next, for good. */
const stallsCountMs = 2 * 60_000

/**
 * Plays a little faster while a live stream is behind its target. hls.js does so only with more than a second in its
 * buffer; at the edge of a stream of short parts there never is so much, and a lost second would stay lost.
 * `sinceStallMs`: how long it has played without a stall.
 */
function holdEdge(hls: InstanceType<HlsClass>, video: HTMLVideoElement, sinceStallMs: number): void {
  const { latestLevelDetails: details, latency, targetLatency } = hls
  const { buffered, currentTime } = video
  if (targetLatency === null || !details || buffered.length === 0) return
  const asked = details.partHoldBack || details.holdBack
  if (asked > 0 && targetLatency !== asked && sinceStallMs > stallsCountMs) hls.targetLatency = asked
  const loaded = buffered.end(buffered.length - 1) - currentTime
  const late = loaded < 0.5 ? 0 : latency - targetLatency
  const rate = late < 0.05 ? 1 : late < 0.1 ? 1.05 : 1.1
  if (video.playbackRate !== rate) video.playbackRate = rate
}

type WithStartDate = HTMLVideoElement & { getStartDate?(): Date }

function playNatively({ video, url, startMs, speed = 1, onFailure }: HlsVideoOptions): HlsVideo {
  const startOf = () => {
    const reportedMs = (video as WithStartDate).getStartDate?.().getTime() ?? Number.NaN
    // Some browsers play HLS without reporting its clock; this is correct up to the first gap.
    return Number.isNaN(reportedMs) ? (startMs ?? reportedMs) : reportedMs
  }
  const fail = () => onFailure(video.error?.code === MediaError.MEDIA_ERR_NETWORK ? 'network' : 'media')
  const seek = (ms: number): boolean => {
    const place = (ms - startOf()) / 1000 / speed
    const isThere = Array.from({ length: video.seekable.length }).some(
      (_, index) => place >= video.seekable.start(index) && place <= video.seekable.end(index),
    )
    if (isThere) video.currentTime = place
    return isThere
  }
  const begin = () => startMs !== undefined && seek(startMs)
  video.addEventListener('error', fail)
  video.addEventListener('loadedmetadata', begin)
  video.src = url
  return {
    currentMs() {
      const ms = startOf() + video.currentTime * 1000 * speed
      return Number.isNaN(ms) ? undefined : ms
    },
    behindMs: () => undefined,
    seek,
    toNewest() {
      const { seekable } = video
      if (seekable.length > 0) video.currentTime = seekable.end(seekable.length - 1)
    },
    close() {
      video.removeEventListener('error', fail)
      video.removeEventListener('loadedmetadata', begin)
      video.removeAttribute('src')
      video.load()
    },
  }
}
