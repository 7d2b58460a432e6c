// A media worker that crashes with an uncaught error when a certain file appears, for the test of its replacement.

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'

const order = join((workerData as { places: readonly { folder: string }[] }).places[0]!.folder, 'die')
setInterval(() => {
  if (!existsSync(order)) return
  rmSync(order)
  throw new Error('killed by the test')
}, 50).unref()

await import('../../server/worker.ts')
