// Rewrites H.264 fragments for players that start in the middle of a recording: open groups of pictures are closed (see
// `GroupCloser`), and gradual refresh is marked as immediately correct. The archive keeps what the camera sent. The
// length of a fragment does not change, so byte ranges stay valid.

import { AppError } from '../base/error.ts'
import { GroupCloser } from '../media/h264/group-closer.ts'
import { findVideoConfig } from '../media/mp4/describe-init.ts'
import { parseFragmentSamples, type TrackSamples } from '../media/mp4/fragment-samples.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { type Sample, writeFragmentHead } from '../media/mp4/media-fragment.ts'
import { writeWithoutRefreshCount } from '../media/nal/key-frame.ts'

/** How a group of pictures starts: with a sync sample, with an open group, or with gradual refresh. */
export type GroupStart = 'sync' | 'open' | 'gradual'

const mfhdSequenceAt = 8 + 12

export class FragmentCloser {
  readonly #groups: GroupCloser

  private constructor(config: Uint8Array) {
    this.#groups = new GroupCloser(config)
  }

  /** Returns undefined for other codecs. `init` is the initialization section of the file. */
  static of(init: Uint8Array): FragmentCloser | undefined {
    try {
      const { codec, config } = findVideoConfig(init)
      return codec === 'h264' ? new FragmentCloser(config) : undefined
    } catch {
      // Files of another writer are sent unchanged.
      return undefined
    }
  }

  /**
   * Returns the rewritten fragment with the same length. `start` and `end` delimit its `moof`; `isKey` means that it
   * starts its group. The fragments of a group must be passed in order. Returns undefined when the result does not fit,
   * which is unlikely: a frame grows by at most a byte per slice, and removed messages and leading pictures free space.
   */
  close(
    fragment: Uint8Array,
    { start, end }: { readonly start: number; readonly end: number },
    isKey: boolean,
  ): Uint8Array | undefined {
    const moof = fragment.subarray(start, end)
    const tracks = parseFragmentSamples(moof)
    const runs = tracks.map((track) => ({
      trackId: track.trackId === videoTrackId ? (1 as const) : (2 as const),
      baseDecodeTime: track.baseDecodeTime,
      samples:
        track.trackId === videoTrackId
          ? this.#closeSamples(fragment, start, track, isKey)
          : readSamples(fragment, start, track),
    }))
    if (runs.some(({ samples }) => samples.length === 0)) return undefined
    const sequence = new DataView(moof.buffer, moof.byteOffset).getUint32(mfhdSequenceAt)
    const head = writeFragmentHead(sequence, runs)
    const samples = runs.flatMap((run) => run.samples)
    const used = samples.reduce((sum, { data }) => sum + data.length, head.length)
    const spare = fragment.length - start - used
    if (spare < 0) return undefined
    // The remaining bytes are part of `mdat` but of no sample.
    const mdatAt = head.length - 8
    const view = new DataView(head.buffer)
    view.setUint32(mdatAt, view.getUint32(mdatAt) + spare)
    const out = new Uint8Array(fragment.length)
    out.set(fragment.subarray(0, start))
    out.set(head, start)
    let at = start + head.length
    for (const { data } of samples) {
      out.set(data, at)
      at += data.length
    }
    return out
  }

  /** The frame before a removed frame gets its duration. */
  #closeSamples(fragment: Uint8Array, start: number, track: TrackSamples, isKey: boolean): Sample[] {
    const closed: Sample[] = []
    for (const [i, { isLeading, ...sample }] of readSamples(fragment, start, track).entries()) {
      const isStart = isKey && i === 0
      const frame = { ...sample, isKey: isStart, recovery: isStart ? 0 : undefined, isLeading, memory: undefined }
      const rewritten = this.#groups.close(frame)
      const last = closed.at(-1)
      if (rewritten) closed.push(rewritten)
      else if (last) closed[closed.length - 1] = { ...last, duration: last.duration + sample.duration }
    }
    return closed
  }
}

/** Returns how the group starts whose first fragment has this `moof`. */
export function findGroupStart(moof: Uint8Array): GroupStart {
  try {
    const track = parseFragmentSamples(moof).find(({ trackId }) => trackId === videoTrackId)
    if (!track || track.isKey[0]) return 'sync'
    return track.isIndependent[0] ? 'open' : 'gradual'
  } catch {
    // Files of another writer are sent unchanged.
    return 'sync'
  }
}

/** Marks the first frame of the fragment as immediately correct, in place. `fragment` may be truncated. */
export function clearRefreshCount(
  fragment: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
): void {
  const track = parseFragmentSamples(fragment.subarray(start, end)).find(({ trackId }) => trackId === videoTrackId)
  if (!track) return
  const at = start + track.dataOffset
  writeWithoutRefreshCount(fragment.subarray(at, at + track.sizes[0]!))
}

function readSamples(fragment: Uint8Array, start: number, track: TrackSamples): Sample[] {
  let at = start + track.dataOffset
  return track.sizes.map((bytes, i) => {
    if (at + bytes > fragment.length) throw new AppError('corrupt', 'expected the samples within their fragment')
    const data = fragment.subarray(at, at + bytes)
    at += bytes
    return {
      data,
      duration: track.durations[i]!,
      compositionOffset: track.compositionOffsets[i]!,
      isKey: track.isKey[i]!,
      isLeading: track.isLeading[i]!,
    }
  })
}
