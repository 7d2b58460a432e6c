// Finds the intact parts of a damaged file. Every fragment is read at the position that the index states, so damage
// before it does not matter.

import { type FileHandle, open } from 'node:fs/promises'
import { AppError } from '../base/error.ts'
import type { Segment } from '../model/segment.ts'
import { BoxReader, type FoundFragment, findFragment, isFragmentIntact } from './fragment-scan.ts'
import { hashInit } from './segment-checksum.ts'
import { sumChecksums } from './segment-scan.ts'

export type IntactParts = {
  /** The initialization section, if it is the recorded one. */
  readonly init: Uint8Array | undefined
  /** Consecutive fragments in their order. Each part begins where a decoder can start, or at the start of the file. */
  readonly parts: readonly (readonly FoundFragment[])[]
  /** Nothing is damaged, but it is other footage: the file was replaced. */
  readonly isForeign: boolean
  readonly fileBytes: number
}

/** Throws the system's error. */
export async function findIntactParts(path: string, segment: Segment): Promise<IntactParts> {
  await using file = await open(path, 'r')
  const { size: fileBytes } = await file.stat()
  const reader = new BoxReader(file, fileBytes)
  const init = await readInit(reader, segment)
  const parts: FoundFragment[][] = []
  let part: FoundFragment[] = []
  const endPart = () => {
    if (part.length > 0) parts.push(part)
    part = []
  }
  for (const [i, { offset, bytes }] of segment.fragments.entries()) {
    const found = await findIntact(file, reader, offset)
    if (found?.bytes !== bytes || !isOwn(found, segment)) endPart()
    else if (part.length > 0 || i === 0 || found.isKey) part.push(found)
  }
  const end = segment.fragments.at(-1)
  // Complete fragments that are not in the index.
  for (let at = end ? end.offset + end.bytes : segment.initBytes; part.length > 0; ) {
    const found = await findIntact(file, reader, at)
    if (!found || !isOwn(found, segment)) break
    part.push(found)
    at += found.bytes
  }
  endPart()
  return { init, parts, isForeign: isOther(segment, parts), fileBytes }
}

/** In a file with checksum boxes, a missing one is damage too. */
function isOwn({ seal }: FoundFragment, { cameraId, checksum }: Segment): boolean {
  return seal ? seal.cameraId === cameraId : checksum === undefined
}

function isOther({ fragments, checksum }: Segment, [part, ...others]: readonly (readonly FoundFragment[])[]): boolean {
  const isWhole = part !== undefined && others.length === 0 && part.length >= fragments.length
  return isWhole && checksum !== undefined && sumChecksums(part.slice(0, fragments.length)) !== checksum
}

async function readInit(reader: BoxReader, { initBytes, initHash }: Segment): Promise<Uint8Array | undefined> {
  if (reader.fileBytes < initBytes) return undefined
  // A copy, because the reader reuses its memory.
  const init = (await reader.box(0, initBytes)).slice()
  return hashInit(init) === initHash ? init : undefined
}

async function findIntact(file: FileHandle, reader: BoxReader, offset: number): Promise<FoundFragment | undefined> {
  try {
    const found = await findFragment(reader, offset)
    return found && (await isFragmentIntact(file, found)) ? found : undefined
  } catch (error) {
    if (error instanceof AppError && error.kind === 'corrupt') return undefined
    throw error
  }
}
