// Deletes all footage of a camera, and its folders.

import { join } from 'node:path'
import { type DeletionContext, deleteEmptyFolder } from './deletion.ts'
import { DeletionSteps } from './deletion-steps.ts'
import { cameraFolder } from './layout.ts'
import { listDays } from './listing.ts'
import { OldestFirst } from './oldest-first.ts'

/** Deletes closed segments. Ends early when `signal` aborts. */
export async function removeFootage(context: DeletionContext, cameraId: number, signal: AbortSignal): Promise<void> {
  await new DeletionSteps().delete(context, listAll(context, cameraId), { signal, onDeleted: () => {} })
  const folder = cameraFolder(cameraId)
  for (const { id, folder: placeFolder } of context.places.folders) {
    if (!(await context.places.isPresent(id))) continue
    for (const { name } of await listDays(context.places.filesOf(id), cameraId)) {
      await deleteEmptyFolder(join(placeFolder, folder, name))
    }
    await deleteEmptyFolder(join(placeFolder, folder))
  }
  if (!signal.aborted) await context.rows.removeClockEpochs(cameraId)
}

async function* listAll({ rows }: DeletionContext, cameraId: number) {
  const cursor = new OldestFirst(rows, cameraId)
  for (;;) {
    if (!cursor.isLoaded) await cursor.load()
    if (!cursor.head) return
    yield cursor.head
    cursor.take()
  }
}
