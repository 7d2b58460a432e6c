// Reads the files of the archive and checks them, because they may differ from the index.

import { AppError } from '../base/error.ts'
import { parseBoxHeader } from '../media/mp4/box-scanner.ts'
import { parseChecksumBox } from '../media/mp4/checksum-box.ts'
import type { Fragment } from '../model/segment.ts'
import type { SegmentLocation } from '../model/segment-views.ts'
import type { FootageFile } from '../places/place-files.ts'

/** Heads have some kB; larger ones are never written. */
export const maxHeadBytes = 4 * 1024 * 1024

/** Enough for the head of a typical fragment. */
const typicalHeadBytes = 4096

/** See `Catalog.open`. */
export type OpenRecording = (segment: SegmentLocation) => Promise<FootageFile>

/** Throws 'corrupt' when the file is shorter. */
export async function readExactly(file: FootageFile, at: number, bytes: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(bytes)
  await readInto(file, at, buffer)
  return buffer
}

/** Fills `target`. Throws 'corrupt' when the file is shorter. */
export async function readInto(file: FootageFile, at: number, target: Uint8Array): Promise<void> {
  const { length } = target
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(target, filled, length - filled, at + filled)
    if (bytesRead === 0) throw new AppError('corrupt', `expected ${length} bytes at ${at}, but the file ends`)
    filled += bytesRead
  }
}

type Moof = { readonly start: number; readonly end: number }

/**
 * Finds the `moof` of a fragment relative to the start of the fragment. Its end may lie beyond the given bytes. Throws
 * 'corrupt'.
 */
export function findMoof(bytes: Uint8Array): Moof {
  const moof = seekMoof(bytes)
  if (!moof) throw new AppError('corrupt', 'expected a moof at the beginning of a fragment')
  return moof
}

/** The same, or undefined if it is not whole. */
export function findWholeMoof(bytes: Uint8Array): Moof | undefined {
  const moof = seekMoof(bytes)
  return moof && moof.end <= bytes.length ? moof : undefined
}

function seekMoof(bytes: Uint8Array): Moof | undefined {
  for (let at = 0; ; ) {
    const header = parseBoxHeader(bytes, at)
    if (!header) return undefined
    const end = at + header.bytes
    if (header.type === 'moof') return { start: at, end }
    at = end
  }
}

/**
 * Throws 'corrupt' for footage of another camera: exchanged files on the disk must not show a user the footage of a
 * camera without permission.
 */
export function checkCameraId(fragment: Uint8Array, cameraId: number): void {
  const box = parseChecksumBox(fragment)
  if (box && box.cameraId !== cameraId) throw new AppError('corrupt', 'the file holds footage of another camera')
}

/** Returns the complete `moof` of a fragment of this camera and its offset in the file. Throws 'corrupt'. */
export async function readMoof(
  file: FootageFile,
  fragment: Pick<Fragment, 'offset' | 'bytes'>,
  cameraId: number,
): Promise<{ readonly moof: Uint8Array; readonly offset: number }> {
  let bytes = await readExactly(file, fragment.offset, Math.min(typicalHeadBytes, fragment.bytes))
  checkCameraId(bytes, cameraId)
  const { start, end } = findMoof(bytes)
  if (end > Math.min(maxHeadBytes, fragment.bytes)) {
    throw new AppError('corrupt', `expected a fragment head of at most ${maxHeadBytes} bytes, got ${end}`)
  }
  if (end > bytes.length) bytes = await readExactly(file, fragment.offset, end)
  return { moof: bytes.subarray(start, end), offset: fragment.offset + start }
}
