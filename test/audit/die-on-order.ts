// Loaded into each thread of the server before its own code (NODE_OPTIONS): a media worker throws an error that nobody catches
// when a file says so. Without the order it does nothing.

import { existsSync, rmSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

const order = process.env.NIGHTJAR_AUDIT_DEATH
const isMediaWorker = !isMainThread && (workerData as { places?: unknown } | null)?.places !== undefined
if (order !== undefined && isMediaWorker) {
  setInterval(() => {
    if (!existsSync(order)) return
    rmSync(order, { force: true })
    throw new Error('ended by the audit')
  }, 50).unref()
}
