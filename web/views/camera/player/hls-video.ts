// A video element that plays HLS and knows the wall clock of what it shows. hls.js where the browser has Media Source Extensions,
// else the browser's own player; loaded only when something is to be played.

export type HlsVideo = {
  /** Wall clock of the picture that is shown, Unix milliseconds; undefined before the first. */
  currentMs(): number | undefined
  /** Shows another moment; false when the playlist does not hold it. */
  seek(ms: number): boolean
  /** Goes to what a stream of now has last. */
  toNewest(): void
  close(): void
}

/** Where the person has not touched the page yet, sound may be refused: `onBlocked`. */
export function playVideo(video: HTMLVideoElement, onBlocked: () => void): void {
  video.play().catch((error: Error) => {
    // Other refusals are those of a video that was closed, or has nothing yet; it begins by itself.
    if (error.name === 'NotAllowedError') onBlocked()
  })
}

export type HlsVideoOptions = {
  readonly video: HTMLVideoElement
  readonly url: string
  /** Where to begin; for a stream of now its newest picture. */
  readonly startMs?: number | undefined
  /** How many times faster than it was recorded the stream itself is; 1 unless given. */
  readonly speed?: number | undefined
  /** It cannot go on: the stream is gone, or this browser cannot play it. */
  readonly onFailure: (reason: 'network' | 'media') => void
}

export async function openHlsVideo(options: HlsVideoOptions): Promise<HlsVideo> {
  const { default: Hls } = await import('hls.js/light')
  if (Hls.isSupported()) return playWithHls(Hls, options)
  return playNatively(options)
}

/** A list of now with two segments is enough for `liveSyncDurationCount`: where more would have to be waited for, it is not. */
function beginEarly(url: string): string {
  const address = new URL(url)
  address.searchParams.set('start', 'early')
  return address.href
}

type HlsClass = typeof import('hls.js/light').default

function playWithHls(Hls: HlsClass, { video, url, startMs, speed = 1, onFailure }: HlsVideoOptions): HlsVideo {
  const hls = new Hls({
    // Its worker is made from a blob, which the policy of the page forbids.
    enableWorker: false,
    backBufferLength: 60,
    maxBufferLength: 20,
    ...(startMs === undefined ? { liveSyncDurationCount: 2, maxLiveSyncPlaybackRate: 1.2 } : { startPosition: 0 }),
  })
  let hasRecovered = false
  let wantedMs = startMs
  hls.on(Hls.Events.ERROR, (_event, { fatal, type }) => {
    if (!fatal) return
    if (type === Hls.ErrorTypes.MEDIA_ERROR && !hasRecovered) {
      hasRecovered = true
      hls.recoverMediaError()
      return
    }
    onFailure(type === Hls.ErrorTypes.MEDIA_ERROR ? 'media' : 'network')
  })
  const listFragments = () =>
    hls.levels[hls.currentLevel]?.details?.fragments ?? hls.levels[0]?.details?.fragments ?? []
  const findPlace = (ms: number): number | undefined => {
    const fragments = listFragments()
    const fragment = fragments.findLast(({ programDateTime }) => programDateTime !== null && programDateTime <= ms)
    if (!fragment || fragment.programDateTime === null) return undefined
    const offset = (ms - fragment.programDateTime) / 1000 / speed
    const isLast = fragment === fragments.at(-1)
    // What lies in a gap shows the next footage; what lies after everything is not there yet.
    return isLast && offset > fragment.duration ? undefined : fragment.start + Math.min(offset, fragment.duration)
  }
  // The first entry begins with the key frame before the moment that was asked for.
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
    seek(ms) {
      const place = findPlace(ms)
      if (place === undefined) return false
      video.currentTime = place
      return true
    },
    toNewest() {
      if (hls.liveSyncPosition !== null) video.currentTime = hls.liveSyncPosition
    },
    close: () => hls.destroy(),
  }
}

type WithStartDate = HTMLVideoElement & { getStartDate?(): Date }

function playNatively({ video, url, startMs, speed = 1, onFailure }: HlsVideoOptions): HlsVideo {
  const startOf = () => {
    const toldMs = (video as WithStartDate).getStartDate?.().getTime() ?? Number.NaN
    // Some play HLS and do not tell its clock: right up to the first gap.
    return Number.isNaN(toldMs) ? (startMs ?? toldMs) : toldMs
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
