// Lists the files being recorded for programs other than the server, which alone knows their fragments.

import { stat } from 'node:fs/promises'
import type { OpenFootage } from '../model/segment-views.ts'
import type { Places } from '../places/places.ts'
import type { SegmentRows } from './segment-rows.ts'

/** Bytes on the disks now. */
export async function measureOpenFiles(rows: Pick<SegmentRows, 'listOpen'>, places: Places): Promise<OpenFootage[]> {
  const open: OpenFootage[] = []
  for (const segment of await rows.listOpen()) {
    const bytes = await stat(places.pathOf(segment)).then(
      (found) => found.size,
      () => 0, // closed or deleted in between
    )
    open.push({ cameraId: segment.cameraId, placeId: segment.placeId, bytes })
  }
  return open
}
