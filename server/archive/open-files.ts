// Lists the files being recorded for programs other than the server, which alone knows their fragments.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SegmentRows } from './segment-rows.ts'

/** Bytes on the disk now, by camera. */
export async function measureOpenFiles(
  rows: Pick<SegmentRows, 'listOpen'>,
  archiveDir: string,
): Promise<Map<number, number>> {
  const bytes = new Map<number, number>()
  for (const { cameraId, path } of await rows.listOpen()) {
    const size = await stat(join(archiveDir, path)).then(
      (found) => found.size,
      () => 0, // closed or deleted in between
    )
    bytes.set(cameraId, (bytes.get(cameraId) ?? 0) + size)
  }
  return bytes
}
