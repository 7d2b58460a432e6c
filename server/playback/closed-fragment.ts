// Fragments of H.264 as players are given them who may begin at any of them: open groups of pictures closed (see `GroupCloser`), and a
// gradual refresh said to be whole at once. The archive keeps what the camera sent, and the length stays, so byte ranges hold.

import { AppError } from '../base/error.ts'
import { GroupCloser } from '../media/h264/group-closer.ts'
import { findVideoConfig } from '../media/mp4/describe-init.ts'
import { parseFragmentSamples, type TrackSamples } from '../media/mp4/fragment-samples.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { type Sample, writeFragmentHead } from '../media/mp4/media-fragment.ts'
import { writeWithoutRefreshCount } from '../media/nal/key-frame.ts'

/** What is done to the fragments of a group of pictures. */
export type GroupStart = 'sync' | 'open' | 'gradual'

const mfhdSequenceAt = 8 + 12

export class FragmentCloser {
  readonly #groups: GroupCloser

  private constructor(config: Uint8Array) {
    this.#groups = new GroupCloser(config)
  }

  /** Undefined for other codecs. `init`: initialization section of the file. */
  static of(init: Uint8Array): FragmentCloser | undefined {
    try {
      const { codec, config } = findVideoConfig(init)
      return codec === 'h264' ? new FragmentCloser(config) : undefined
    } catch {
      // Not written by us: it is passed on as it is.
      return undefined
    }
  }

  /**
   * The whole fragment, its `moof` at `[start, end)`, with as many bytes. `isKey`: it begins its group. Those of a group must come in their
   * order. Undefined when what it becomes does not fit: a picture grows by a byte a slice at most, and what its message and leading pictures
   * took is left over.
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
    // What is left over belongs to no sample.
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

  /** A picture that is left out lengthens the one before. */
  #closeSamples(fragment: Uint8Array, start: number, track: TrackSamples, isKey: boolean): Sample[] {
    const closed: Sample[] = []
    for (const [i, { isLeading, ...sample }] of readSamples(fragment, start, track).entries()) {
      const isStart = isKey && i === 0
      const frame = { ...sample, isKey: isStart, recovery: isStart ? 0 : undefined, isLeading, memory: undefined }
      const picture = this.#groups.close(frame)
      const last = closed.at(-1)
      if (picture) closed.push(picture)
      else if (last) closed[closed.length - 1] = { ...last, duration: last.duration + sample.duration }
    }
    return closed
  }
}

/** What the group begins with that begins with this fragment. */
export function findGroupStart(moof: Uint8Array): GroupStart {
  try {
    const track = parseFragmentSamples(moof).find(({ trackId }) => trackId === videoTrackId)
    if (!track || track.isKey[0]) return 'sync'
    return track.isIndependent[0] ? 'open' : 'gradual'
  } catch {
    // Not written by us: it is passed on as it is.
    return 'sync'
  }
}

/** Makes the first picture of the fragment one to begin at, in place, as far as these bytes reach. */
export function claimWhole(
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
    if (at + bytes > fragment.length) throw new AppError('corrupt', 'expected the samples of a fragment inside it')
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
