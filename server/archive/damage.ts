// Checks whether a closed segment's file is what was recorded: the boxes, the position of every fragment, and the
// checksums.

import { AppError } from '../base/error.ts'
import type { Fragment, Segment } from '../model/segment.ts'
import type { FootageFile } from '../places/place-files.ts'
import type { Places } from '../places/places.ts'
import { scanSegment } from './segment-scan.ts'

/** Describes the damage, or returns undefined if there is none or the file is gone. Throws the system's error. */
export async function findDamage(places: Places, segment: Segment): Promise<string | undefined> {
  try {
    await using file = await places.filesOf(segment.placeId).open(segment.path)
    return await findDifference(file, segment)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return undefined
    throw error
  }
}

async function findDifference(file: FootageFile, segment: Segment): Promise<string | undefined> {
  const scan = await scanSegment(file, { isVerified: true, cameraId: segment.cameraId })
  if (scan.damage !== undefined) return scan.damage
  if (scan.bytes !== scan.fileBytes)
    return `what follows byte ${scan.bytes} is neither footage nor the index of the file`
  if (scan.initHash !== segment.initHash) return 'the file begins with another initialization section'
  const count = Math.max(scan.fragments.length, segment.fragments.length)
  for (let i = 0; i < count; i++) {
    if (!isSamePosition(scan.fragments[i], segment.fragments[i])) return `fragment ${i} is not where the index says`
  }
  if (segment.checksum !== undefined && scan.checksum !== segment.checksum)
    return 'the file holds other footage than was recorded'
  return undefined
}

function isSamePosition(a: Fragment | undefined, b: Fragment | undefined): boolean {
  const isSameHole = a?.hole?.durationMs === b?.hole?.durationMs && a?.hole?.reason === b?.hole?.reason
  return a?.offset === b?.offset && a?.bytes === b?.bytes && a?.isKey === b?.isKey && isSameHole
}
