// The thread of sqlite-checkpoints.ts: a connection of its own that does nothing but checkpoints.

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { CheckpointMessage, CheckpointSettings } from './sqlite-checkpoints.ts'
import { isSyncFailure } from './sync-loss.ts'

const { file, intervalMs } = workerData as CheckpointSettings
const port = parentPort!
const tell = (message: CheckpointMessage) => port.postMessage(message)
const database = new DatabaseSync(file)
// Takes what it can get without waiting for anybody, and keeps nobody waiting.
const checkpoint = database.prepare('pragma wal_checkpoint(passive)')
let isFailing = false
let isLost = false

/**
 * The log begins anew only after all of it was moved, so what was committed during a long round is moved in a short
 * one.
 */
const maxRounds = 3

function moveAll(): void {
  for (let round = 0; round < maxRounds; round++) {
    const { log, checkpointed } = checkpoint.get() as { log: number; checkpointed: number }
    if (log === checkpointed) return
  }
}

const timer = setInterval(() => {
  try {
    moveAll()
    isFailing = false
  } catch (error) {
    if (isSyncFailure(error)) {
      // Closing a connection is another checkpoint: see sync-loss.ts.
      clearInterval(timer)
      tell({ kind: 'unconfirmed', reason: (error as Error).message })
      isLost = true
      return
    }
    if (!isFailing) tell({ kind: 'failed', reason: (error as Error).message })
    isFailing = true
  }
}, intervalMs)

port.once('message', () => {
  clearInterval(timer)
  if (!isLost) database.close()
  port.close()
})
tell({ kind: 'ready' })
