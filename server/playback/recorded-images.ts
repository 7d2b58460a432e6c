// Images of a recorded moment: the key frame at or before it, as a JPEG. They are created on request. The most recent
// ones are cached, because users return to the same moments of a timeline.

import type { Catalog } from '../archive/catalog.ts'
import { type OpenRecording, readExactly, readMoof } from '../archive/recording-file.ts'
import { AppError } from '../base/error.ts'
import { FairSemaphore } from '../base/fair-semaphore.ts'
import type { ImageLimits } from '../media/image-size.ts'
import { findVideoConfig } from '../media/mp4/describe-init.ts'
import { parseMovieFragment } from '../media/mp4/fragment-head.ts'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { findRefreshCount, KeyFrameCollector } from '../media/nal/key-frame.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type { FootageFile } from '../places/place-files.ts'

export type RecordedImagesOptions = {
  readonly catalog: Pick<Catalog, 'listSegments' | 'open'>
  readonly decoder: {
    /** Returns one JPEG for each size. Rejects with AppError 'corrupt' or 'unavailable'. */
    decode(
      request: KeyFrame & { sizes: ImageLimits[]; source: number; viewers: ReadonlySet<number> },
    ): Promise<Uint8Array[]>
  }
}

export type RecordedImage = {
  readonly jpeg: Uint8Array
  /** Wall clock of the frame, Unix milliseconds. */
  readonly takenAtMs: number
}

type KeyFrame = ReturnType<typeof findVideoConfig> & { readonly data: Uint8Array }

type KeyFramePosition = { readonly segment: Segment; readonly fragment: Fragment }

/** Maximum age of the image for a moment without footage. */
const maxAgeMs = 10_000
/** Timelines are rounded outwards to whole seconds, so a timeline may begin this much before the first frame. */
const maxRoundingMs = 1000

/**
 * Images that are created at once: in total, for one viewer, and of one camera. Each one holds a key frame in memory.
 */
const maxConcurrent = { total: 32, perViewer: 4, perCamera: 2 }
/** Images that may wait for one viewer: a wall of cameras at one moment. */
const maxWaitingPerViewer = 64
const refusal = 'too many images are requested at once'
/** The limit per viewer ensures that these semaphores never reject a request. */
const innerLimits = { maxRunningOfOne: maxConcurrent.perViewer, maxWaitingOfOne: maxConcurrent.perViewer, refusal }

const maxCacheBytes = 16 * 1024 * 1024

export class RecordedImages {
  readonly #catalog: RecordedImagesOptions['catalog']
  readonly #decoder: RecordedImagesOptions['decoder']
  /** Least recently used first. */
  readonly #cache = new Map<string, Uint8Array>()
  #cacheBytes = 0
  /** Images that are being created. Requests for the same image share the work. */
  readonly #pending = new Map<string, Promise<Uint8Array>>()
  /** Viewers are served in turn, so a viewer that requests a hundred images delays only its own. */
  readonly #viewers = new FairSemaphore<number>({
    maxRunning: Number.POSITIVE_INFINITY,
    maxRunningOfOne: maxConcurrent.perViewer,
    maxWaitingOfOne: maxWaitingPerViewer,
    refusal,
  })
  readonly #all = new FairSemaphore<number>({ ...innerLimits, maxRunning: maxConcurrent.total })
  /** By camera, so that a camera with slow storage or large frames delays only its own images. */
  readonly #cameras = new Map<number, FairSemaphore<number>>()

  constructor({ catalog, decoder }: RecordedImagesOptions) {
    this.#catalog = catalog
    this.#decoder = decoder
  }

  /**
   * `viewer` is the id of the requesting user. Throws 'not_found' when there is no footage at the moment or shortly
   * before it, 'unavailable' when the viewer requests too many images at once, and 'corrupt' when the footage is
   * damaged.
   */
  async getImage(cameraId: number, atMs: number, limits: ImageLimits, viewer: number): Promise<RecordedImage> {
    const place = await this.#find(cameraId, atMs)
    if (!place) throw new AppError('not_found', 'Nothing is recorded at this moment.')
    const takenAtMs = place.fragment.startMs
    const key = [place.segment.id, place.fragment.offset, limits.maxWidth, limits.maxHeight].join()
    const known = this.#cache.get(key)
    if (known) {
      this.#cache.delete(key)
      this.#cache.set(key, known)
      return { jpeg: known, takenAtMs }
    }
    let pending = this.#pending.get(key)
    if (!pending) {
      pending = this.#createInTurn(cameraId, place, limits, viewer).finally(() => this.#pending.delete(key))
      this.#pending.set(key, pending)
      void pending.then(
        (jpeg) => this.#addToCache(key, jpeg),
        () => {},
      )
    }
    return { jpeg: await pending, takenAtMs }
  }

  /** A group of pictures lies within one file, and the first frame of every file is a key frame. */
  async #find(cameraId: number, atMs: number): Promise<KeyFramePosition | undefined> {
    const segments = await this.#catalog.listSegments(cameraId, atMs - maxAgeMs, atMs + maxRoundingMs)
    // The moment may have been recorded more than once. The image is of the epoch that playback shows first.
    const epochs = Map.groupBy(segments, ({ epoch = 0 }) => epoch)
    const found = [...epochs.values()].flatMap((some) => findLastKey(some, atMs) ?? [])
    const covering = found.find(({ segment }) => segment.endMs > atMs)
    const newest = found.reduce<KeyFramePosition | undefined>(
      (best, place) => (best && best.fragment.startMs >= place.fragment.startMs ? best : place),
      undefined,
    )
    if (covering ?? newest) return covering ?? newest
    const [segment] = segments
    const first = segment?.fragments[0]
    return segment && first?.isKey && first.startMs < atMs + maxRoundingMs ? { segment, fragment: first } : undefined
  }

  /** Live images share the queue of the decoder, so recorded images must not fill it. */
  #createInTurn(cameraId: number, place: KeyFramePosition, limits: ImageLimits, viewer: number): Promise<Uint8Array> {
    return this.#viewers.run(viewer, async () => {
      const semaphore =
        this.#cameras.get(cameraId) ??
        new FairSemaphore<number>({ ...innerLimits, maxRunning: maxConcurrent.perCamera })
      this.#cameras.set(cameraId, semaphore)
      try {
        return await semaphore.run(viewer, () => this.#all.run(viewer, () => this.#create(place, limits, viewer)))
      } finally {
        const { running, waiting } = semaphore.stats()
        if (running === 0 && waiting === 0) this.#cameras.delete(cameraId)
      }
    })
  }

  async #create(place: KeyFramePosition, limits: ImageLimits, viewer: number): Promise<Uint8Array> {
    const frame = await readKeyFrame((segment) => this.#catalog.open(segment), place)
    const [source, viewers] = [place.segment.cameraId, new Set([viewer])]
    const [jpeg] = await this.#decoder.decode({ ...frame, sizes: [limits], source, viewers })
    return jpeg!
  }

  #addToCache(key: string, jpeg: Uint8Array): void {
    this.#cache.set(key, jpeg)
    this.#cacheBytes += jpeg.length
    for (const [oldest, { length }] of this.#cache) {
      if (this.#cacheBytes <= maxCacheBytes) break
      this.#cache.delete(oldest)
      this.#cacheBytes -= length
    }
  }
}

function findLastKey(segments: readonly Segment[], atMs: number): KeyFramePosition | undefined {
  for (const segment of segments.toReversed()) {
    const fragment = segment.fragments.findLast(({ isKey, startMs }) => isKey && startMs <= atMs)
    if (fragment) return { segment, fragment }
  }
  return undefined
}

/**
 * Reads the first frame of the fragment and, with gradual refresh, the following frames up to the first correct one.
 */
async function readKeyFrame(open: OpenRecording, { segment, fragment }: KeyFramePosition): Promise<KeyFrame> {
  await using file = await open(segment)
  const format = findVideoConfig(await readExactly(file, 0, segment.initBytes))
  const collector = new KeyFrameCollector(format.codec)
  let isKey = true
  for await (const data of readVideoFrames(file, segment, fragment)) {
    const recovery = isKey ? findRefreshCount(format.codec, data) : undefined
    const whole = collector.push({ isKey, recovery, data })
    if (whole) return { ...format, data: whole }
    isKey = false
  }
  throw new AppError('corrupt', 'expected a complete key frame before the end of the file')
}

/** Reads the video frames from the start of a fragment to the end of the file. */
async function* readVideoFrames(file: FootageFile, segment: Segment, first: Fragment): AsyncGenerator<Uint8Array> {
  for (const fragment of segment.fragments.slice(segment.fragments.indexOf(first))) {
    const { moof, offset } = await readMoof(file, fragment, segment.cameraId)
    if (
      fragment === first &&
      !parseMovieFragment(moof).tracks.find(({ trackId }) => trackId === videoTrackId)?.firstIsKey
    )
      throw new AppError('corrupt', 'expected a key frame at the beginning of the fragment')
    const track = parseFragmentSamples(moof).find(({ trackId }) => trackId === videoTrackId)
    let at = offset + (track?.dataOffset ?? 0)
    for (const size of track?.sizes ?? []) {
      if (at < fragment.offset || at + size > fragment.offset + fragment.bytes)
        throw new AppError('corrupt', 'expected the frame within its fragment')
      yield await readExactly(file, at, size)
      at += size
    }
  }
}
