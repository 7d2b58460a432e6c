// An entry of a stream that plays faster than normal: the key frames of the footage, each shown until the next one,
// divided by the speed. It is read from the files of the archive on request; only heads are read before the first byte.

import { type OpenRecording, readMoof } from '../archive/recording-file.ts'
import { AppError } from '../base/error.ts'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { writeFragmentHead } from '../media/mp4/media-fragment.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type { DownloadPart } from './download-data.ts'
import type { StreamEntry } from './stream-entries.ts'

/** More key frames per second than this do not look smoother. */
const minShown90k = 9000

export type KeyFrames = {
  readonly head: Uint8Array
  readonly parts: readonly DownloadPart[]
  readonly totalBytes: number
}

type KeyFrame = { readonly fragment: Fragment; readonly at90k: number }
type LocatedKeyFrame = KeyFrame & { readonly offset: number; readonly bytes: number }

/**
 * `entry` is an entry of this segment and `sequence` its number. Throws 'not_found' when the file is gone, and
 * 'corrupt' when it does not match the index.
 */
export async function layoutKeyFrames(
  open: OpenRecording,
  segment: Pick<Segment, 'id' | 'placeId' | 'path' | 'cameraId' | 'fragments'>,
  { entry, speed, sequence }: { readonly entry: StreamEntry; readonly speed: number; readonly sequence: number },
): Promise<KeyFrames> {
  const found: LocatedKeyFrame[] = []
  {
    await using file = await open(segment)
    for (const keyFrame of chooseKeyFrames(segment.fragments, entry, speed)) {
      const { moof, offset } = await readMoof(file, keyFrame.fragment, segment.cameraId)
      const track = parseFragmentSamples(moof).find(({ trackId }) => trackId === videoTrackId)
      const bytes = track?.sizes[0]
      if (!track || bytes === undefined) throw new AppError('corrupt', 'expected a video frame in the fragment')
      found.push({ ...keyFrame, offset: offset + track.dataOffset, bytes })
    }
  }
  // The bit rate is at most that of the recording, unless a single frame exceeds it.
  const shown = thinOut(found, entry.bytes / speed)
  const endOf = (at90k: number) => Math.round(entry.axis90k + at90k / speed)
  const samples = shown.map(({ at90k, bytes }, i) => ({
    data: { length: bytes },
    duration: endOf(shown[i + 1]?.at90k ?? entry.duration90k) - endOf(at90k),
    compositionOffset: 0,
    isKey: true,
  }))
  const run = { trackId: videoTrackId, baseDecodeTime: endOf(0), samples } as const
  const head = writeFragmentHead(sequence + 1, [run], entry.startMs)
  let at = head.length
  const parts = shown.map(({ fragment, offset, bytes }) => {
    const part: DownloadPart = { segment, fragmentOffset: fragment.offset, offset, bytes, at }
    at += bytes
    return part
  })
  return { head, parts, totalBytes: at }
}

/** The first key frame is at 0 and starts the group in which the entry begins. */
function chooseKeyFrames(fragments: readonly Fragment[], entry: StreamEntry, speed: number): KeyFrame[] {
  const begin = fragments.findIndex(({ offset }) => offset === entry.offset)
  const first = fragments[begin]
  const key = fragments.slice(0, begin + 1).findLast(({ isKey }) => isKey)
  if (!first || !key)
    throw new AppError('corrupt', `expected a fragment at byte ${entry.offset}, but the index has none`)
  const keyFrames: KeyFrame[] = [{ fragment: key, at90k: 0 }]
  const end = entry.offset + entry.bytes
  for (let i = begin + 1; i < fragments.length && fragments[i]!.offset < end; i++) {
    const fragment = fragments[i]!
    const at90k = fragment.start90k - first.start90k
    if (fragment.isKey && at90k - keyFrames.at(-1)!.at90k >= minShown90k * speed) keyFrames.push({ fragment, at90k })
  }
  return keyFrames
}

/** Keeps every second, third, … key frame until they fit. */
function thinOut(keyFrames: readonly LocatedKeyFrame[], maxBytes: number): readonly LocatedKeyFrame[] {
  for (let step = 1; step < keyFrames.length; step++) {
    const kept = keyFrames.filter((_, i) => i % step === 0)
    if (kept.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes) return kept
  }
  return keyFrames.slice(0, 1)
}
