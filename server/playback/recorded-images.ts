// Pictures of a moment: the key frame at or before it, as a JPEG. Made when asked for; the newest stay in memory for a while, because
// whoever looks along a timeline comes back.

import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Catalog } from '../archive/catalog.ts'
import { AppError } from '../base/error.ts'
import { FairSemaphore } from '../base/fair-semaphore.ts'
import type { ImageLimits } from '../media/image-size.ts'
import { findVideoConfig } from '../media/mp4/describe-init.ts'
import { parseMovieFragment } from '../media/mp4/fragment-head.ts'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { findRefreshCount, KeyFrameCollector } from '../media/nal/key-frame.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import { openRecording, readExactly, readMoof } from './recording-file.ts'

export type RecordedImagesOptions = {
  readonly catalog: Pick<Catalog, 'listSegments' | 'archiveDir'>
  readonly decoder: {
    /** One JPEG for each size. Rejects with AppError 'corrupt' or 'unavailable'. */
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

type Place = { readonly segment: Segment; readonly fragment: Fragment }

/** A picture of a moment without footage may be so much older. */
const maxAgeMs = 10_000
/** Timelines are told in whole seconds, rounded outwards: their start may lie so much before the first frame. */
const maxRoundingMs = 1000

/** Pictures that are made at once: in all, for one viewer, and of one camera. Each holds a key frame in memory. */
const maxMaking = { inAll: 32, ofViewer: 4, ofCamera: 2 }
/** Pictures that may wait, for one viewer: a wall of cameras at one moment. */
const maxWaitingOfViewer = 64
const refusal = 'too many pictures are asked for at once'
/** What has passed the semaphore of its viewer is never too much for the next. */
const limitsOfOne = { maxRunningOfOne: maxMaking.ofViewer, maxWaitingOfOne: maxMaking.ofViewer, refusal }

const maxCacheBytes = 16 * 1024 * 1024

export class RecordedImages {
  readonly #catalog: RecordedImagesOptions['catalog']
  readonly #decoder: RecordedImagesOptions['decoder']
  /** Oldest use first. */
  readonly #cache = new Map<string, Uint8Array>()
  #cacheBytes = 0
  /** Pictures being made: who asks for the same one waits for it. */
  readonly #pending = new Map<string, Promise<Uint8Array>>()
  /** Viewers take turns: whoever asks for a hundred pictures delays their own. */
  readonly #viewers = new FairSemaphore<number>({
    maxRunning: Number.POSITIVE_INFINITY,
    maxRunningOfOne: maxMaking.ofViewer,
    maxWaitingOfOne: maxWaitingOfViewer,
    refusal,
  })
  readonly #all = new FairSemaphore<number>({ ...limitsOfOne, maxRunning: maxMaking.inAll })
  /** Cameras whose pictures are being made: one whose frames take long keeps only its own waiting. */
  readonly #making = new Map<number, FairSemaphore<number>>()

  constructor({ catalog, decoder }: RecordedImagesOptions) {
    this.#catalog = catalog
    this.#decoder = decoder
  }

  /**
   * `viewer`: who asks. Throws 'not_found' when there is no footage at the moment nor some seconds before it, 'unavailable' when that
   * viewer asks for too many at once, 'corrupt' when the footage is damaged.
   */
  async picture(cameraId: number, atMs: number, limits: ImageLimits, viewer: number): Promise<RecordedImage> {
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
      pending = this.#makeInTurn(cameraId, place, limits, viewer).finally(() => this.#pending.delete(key))
      this.#pending.set(key, pending)
      void pending.then(
        (jpeg) => this.#keep(key, jpeg),
        () => {},
      )
    }
    return { jpeg: await pending, takenAtMs }
  }

  /** Groups of pictures lie within one file, whose first frame is a key frame. */
  async #find(cameraId: number, atMs: number): Promise<Place | undefined> {
    const segments = await this.#catalog.listSegments(cameraId, atMs - maxAgeMs, atMs + maxRoundingMs)
    // The moment may have been recorded more than once: the picture is of the time that playback shows first.
    const epochs = Map.groupBy(segments, ({ epoch = 0 }) => epoch)
    const found = [...epochs.values()].flatMap((some) => findLastKey(some, atMs) ?? [])
    const covering = found.find(({ segment }) => segment.endMs > atMs)
    const newest = found.reduce<Place | undefined>(
      (best, place) => (best && best.fragment.startMs >= place.fragment.startMs ? best : place),
      undefined,
    )
    if (covering ?? newest) return covering ?? newest
    const [segment] = segments
    const first = segment?.fragments[0]
    return segment && first?.isKey && first.startMs < atMs + maxRoundingMs ? { segment, fragment: first } : undefined
  }

  /** Live pictures wait in the same queue of the decoder. */
  #makeInTurn(cameraId: number, place: Place, limits: ImageLimits, viewer: number): Promise<Uint8Array> {
    return this.#viewers.run(viewer, async () => {
      const semaphore =
        this.#making.get(cameraId) ?? new FairSemaphore<number>({ ...limitsOfOne, maxRunning: maxMaking.ofCamera })
      this.#making.set(cameraId, semaphore)
      try {
        return await semaphore.run(viewer, () => this.#all.run(viewer, () => this.#make(place, limits, viewer)))
      } finally {
        const { running, waiting } = semaphore.stats()
        if (running === 0 && waiting === 0) this.#making.delete(cameraId)
      }
    })
  }

  async #make(place: Place, limits: ImageLimits, viewer: number): Promise<Uint8Array> {
    const frame = await readKeyFrame(this.#catalog.archiveDir, place)
    const [source, viewers] = [place.segment.cameraId, new Set([viewer])]
    const [jpeg] = await this.#decoder.decode({ ...frame, sizes: [limits], source, viewers })
    return jpeg!
  }

  #keep(key: string, jpeg: Uint8Array): void {
    this.#cache.set(key, jpeg)
    this.#cacheBytes += jpeg.length
    for (const [oldest, { length }] of this.#cache) {
      if (this.#cacheBytes <= maxCacheBytes) break
      this.#cache.delete(oldest)
      this.#cacheBytes -= length
    }
  }
}

function findLastKey(segments: readonly Segment[], atMs: number): Place | undefined {
  for (const segment of segments.toReversed()) {
    const fragment = segment.fragments.findLast(({ isKey, startMs }) => isKey && startMs <= atMs)
    if (fragment) return { segment, fragment }
  }
  return undefined
}

/** The fragment's first picture, with those after it where it is whole only later. */
async function readKeyFrame(archiveDir: string, { segment, fragment }: Place): Promise<KeyFrame> {
  await using file = await openRecording(join(archiveDir, segment.path))
  const format = findVideoConfig(await readExactly(file, 0, segment.initBytes))
  const collector = new KeyFrameCollector(format.codec)
  let isKey = true
  for await (const data of readPictures(file, segment, fragment)) {
    const recovery = isKey ? findRefreshCount(format.codec, data) : undefined
    const whole = collector.push({ isKey, recovery, data })
    if (whole) return { ...format, data: whole }
    isKey = false
  }
  throw new AppError('corrupt', 'expected a whole picture before the end of the file')
}

/** From the first of a fragment on, to the end of the file. */
async function* readPictures(file: FileHandle, segment: Segment, first: Fragment): AsyncGenerator<Uint8Array> {
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
        throw new AppError('corrupt', 'expected the picture inside its fragment')
      yield await readExactly(file, at, size)
      at += size
    }
  }
}
