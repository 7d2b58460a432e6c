// The thread of sqlite-checkpoints.ts: a separate connection that only runs checkpoints.

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { isSyncFailure } from '../engine/sync-loss.ts'
import type { CheckpointMessage, CheckpointSettings } from './sqlite-checkpoints.ts'

const { file, intervalMs } = workerData as CheckpointSettings
const port = parentPort!
const tell = (message: CheckpointMessage) => port.postMessage(message)
const database = new DatabaseSync(file)
// Moves as much as possible without waiting for or blocking other connections.
const checkpoint = database.prepare('pragma wal_checkpoint(passive)')
let isFailing = false
let isLost = false

/**
 * The log restarts only after all of it was moved. What was committed during a long round is moved in a second, short
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
      // Closing a connection runs another checkpoint; see sync-loss.ts.
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
