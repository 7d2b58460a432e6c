// Lists the files being recorded for programs other than the server, which alone knows their fragments.

import { stat } from 'node:fs/promises'
import type { OpenFootage } from '../model/segment-views.ts'
import type { Places } from '../places/places.ts'
import type { SegmentRows } from './segment-rows.ts'

/** Bytes on the disks now, of those in places of this machine. */
export async function measureOpenFiles(rows: Pick<SegmentRows, 'listOpen'>, places: Places): Promise<OpenFootage[]> {
  const open: OpenFootage[] = []
  const own = new Set(places.all.map(({ id }) => id))
  for (const segment of await rows.listOpen()) {
    if (!own.has(segment.placeId)) continue
    const bytes = await stat(places.pathOf(segment)).then(
      (found) => found.size,
      () => 0, // closed or deleted in between
    )
    open.push({ cameraId: segment.cameraId, placeId: segment.placeId, bytes })
  }
  return open
}
