// Checks whether a closed segment's file is what was recorded: the boxes, the position of every fragment, and the
// checksums.

import type { Fragment, Segment } from '../model/segment.ts'
import { scanSegmentFile } from './segment-scan.ts'

/** Describes the damage, or returns undefined if there is none or the file is gone. Throws the system's error. */
export async function findDamage(path: string, segment: Segment): Promise<string | undefined> {
  try {
    return await findDifference(path, segment)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function findDifference(path: string, segment: Segment): Promise<string | undefined> {
  const scan = await scanSegmentFile(path, { isVerified: true, cameraId: segment.cameraId })
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
