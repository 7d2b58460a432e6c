// An entry of a stream that plays faster than time: key frames of the footage, each shown for as long as the next one is away,
// divided by the speed. Made of the archive's files when asked for; only heads are read before the first byte.

import { join } from 'node:path'
import { AppError } from '../base/error.ts'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { writeFragmentHead } from '../media/mp4/media-fragment.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type { DownloadPart } from './download-data.ts'
import { openRecording, readMoof } from './recording-file.ts'
import type { StreamEntry } from './stream-entries.ts'

/** More pictures a second than this are no smoother. */
const minShown90k = 9000

export type KeyFrames = {
  readonly head: Uint8Array
  readonly parts: readonly DownloadPart[]
  readonly totalBytes: number
}

type Picture = { readonly fragment: Fragment; readonly at90k: number }
type Found = Picture & { readonly offset: number; readonly bytes: number }

/** `entry` of this segment; `sequence`: its number. Throws 'not_found' when the file is gone, 'corrupt' when it is not what the index says. */
export async function layoutKeyFrames(
  archiveDir: string,
  segment: Pick<Segment, 'path' | 'cameraId' | 'fragments'>,
  { entry, speed, sequence }: { readonly entry: StreamEntry; readonly speed: number; readonly sequence: number },
): Promise<KeyFrames> {
  const path = join(archiveDir, segment.path)
  const found: Found[] = []
  {
    await using file = await openRecording(path)
    for (const picture of chooseKeyFrames(segment.fragments, entry, speed)) {
      const { moof, offset } = await readMoof(file, picture.fragment, segment.cameraId)
      const track = parseFragmentSamples(moof).find(({ trackId }) => trackId === videoTrackId)
      const bytes = track?.sizes[0]
      if (!track || bytes === undefined) throw new AppError('corrupt', 'expected a picture in the fragment')
      found.push({ ...picture, offset: offset + track.dataOffset, bytes })
    }
  }
  // As many bytes a second as the recording has, if one picture is not more.
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
    const part: DownloadPart = { path, fragmentOffset: fragment.offset, offset, bytes, at }
    at += bytes
    return part
  })
  return { head, parts, totalBytes: at }
}

/** The first one at 0: of the group that the entry begins in. */
function chooseKeyFrames(fragments: readonly Fragment[], entry: StreamEntry, speed: number): Picture[] {
  const begin = fragments.findIndex(({ offset }) => offset === entry.offset)
  const first = fragments[begin]
  const key = fragments.slice(0, begin + 1).findLast(({ isKey }) => isKey)
  if (!first || !key) throw new AppError('corrupt', `expected a fragment at byte ${entry.offset}, the index has none`)
  const pictures: Picture[] = [{ fragment: key, at90k: 0 }]
  const end = entry.offset + entry.bytes
  for (let i = begin + 1; i < fragments.length && fragments[i]!.offset < end; i++) {
    const fragment = fragments[i]!
    const at90k = fragment.start90k - first.start90k
    if (fragment.isKey && at90k - pictures.at(-1)!.at90k >= minShown90k * speed) pictures.push({ fragment, at90k })
  }
  return pictures
}

/** Every second, third, … until they fit. */
function thinOut(pictures: readonly Found[], maxBytes: number): readonly Found[] {
  for (let step = 1; step < pictures.length; step++) {
    const kept = pictures.filter((_, i) => i % step === 0)
    if (kept.reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes) return kept
  }
  return pictures.slice(0, 1)
}
