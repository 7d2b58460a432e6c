// The samples of a recorded file, without their bytes: from the index at its end, or from the heads of its fragments.

import { open } from 'node:fs/promises'
import { parseFragmentSamples } from '../media/mp4/fragment-samples.ts'
import { videoTrackId } from '../media/mp4/init-segment.ts'
import { SampleRecordReader, SampleRecordWriter } from '../media/mp4/sample-records.ts'
import { endOfFootage, type Segment } from '../model/segment.ts'
import type { FootageFile } from '../places/place-files.ts'
import type { DeletionContext } from './deletion.ts'
import { type KeyPlace, maxIndexBytes, parseFileIndex, writeFileIndex } from './file-index.ts'
import { readMoof } from './recording-file.ts'

type SampledSegment = Pick<Segment, 'cameraId' | 'initBytes' | 'fragments' | 'bytes' | 'checksum'>

/** Heads of one file that are read at the same time. */
const readsAtOnce = 4

/**
 * The records of the index, with one read. Undefined if the file has none, or one that is not of these fragments: then the
 * heads tell.
 */
export async function readIndexedSamples(file: FootageFile, segment: SampledSegment): Promise<Uint8Array | undefined> {
  const end = endOfFootage(segment)
  const bytes = segment.bytes - end
  if (bytes <= 0 || bytes > maxIndexBytes || segment.checksum === undefined) return undefined
  const buffer = new Uint8Array(bytes)
  const { bytesRead } = await file.read(buffer, 0, bytes, end)
  const index = parseFileIndex(buffer.subarray(0, bytesRead))
  const isIts =
    index?.cameraId === segment.cameraId &&
    index.checksum === segment.checksum &&
    index.count === segment.fragments.length
  return isIts && areWithin(index.records, segment) ? index.records : undefined
}

function areWithin(records: Uint8Array, { fragments }: SampledSegment): boolean {
  try {
    const reader = new SampleRecordReader(records)
    for (const { bytes } of fragments) reader.readRecord(bytes)
    return reader.isAtEnd
  } catch {
    return false
  }
}

/** The same from the heads, with the key frames. Throws 'corrupt'. */
export async function readHeadSamples(
  file: FootageFile,
  { cameraId, fragments }: SampledSegment,
): Promise<{ readonly records: Uint8Array; readonly keys: readonly KeyPlace[] }> {
  const writer = new SampleRecordWriter()
  const keys: KeyPlace[] = []
  for (let i = 0; i < fragments.length; i += readsAtOnce) {
    const some = fragments.slice(i, i + readsAtOnce)
    const moofs = await Promise.all(some.map((fragment) => readMoof(file, fragment, cameraId)))
    for (const [j, { moof, offset }] of moofs.entries()) {
      const fragment = some[j]!
      const tracks = parseFragmentSamples(moof)
      writer.begin(tracks.length)
      for (const track of tracks) {
        const dataOffset = offset - fragment.offset + track.dataOffset
        writer.addRun({ ...track, dataOffset, count: track.sizes.length })
      }
      const video = tracks.find(({ trackId }) => trackId === videoTrackId)
      if (!fragment.isKey || !video) continue
      keys.push({ time: Math.max(0, video.baseDecodeTime + video.compositionOffsets[0]!), moofOffset: offset })
    }
  }
  return { records: writer.read(), keys }
}

/** Whether the segment is closed and could have an index, but has none. */
export function lacksIndex(segment: Segment): boolean {
  const { isClosed, checksum, fragments, bytes } = segment
  return isClosed && checksum !== undefined && fragments.length > 0 && bytes === endOfFootage(segment)
}

/**
 * Writes an index behind the footage, and the row. Nobody else may use the archive meanwhile. Throws the system's and the
 * database's errors, and 'corrupt' when the file does not match its row. Then, the next check finds a file that is too long,
 * or nothing has changed.
 */
export async function addIndex({ places, rows }: DeletionContext, segment: Segment): Promise<void> {
  const { id, cameraId, endMs, fragments, checksum } = segment
  const end = endOfFootage(segment)
  await using file = await open(places.pathOf(segment), 'r+')
  const { records, keys } = await readHeadSamples(file, segment)
  const bytes = writeFileIndex({ cameraId, checksum: checksum!, count: fragments.length, records }, keys)
  try {
    const { bytesWritten } = await file.write(bytes, 0, bytes.length, end)
    if (bytesWritten < bytes.length) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' })
    await file.datasync()
  } catch (error) {
    await file.truncate(end)
    throw error
  }
  await rows.close(id, { endMs, bytes: end + bytes.length, fragments, checksum })
}
