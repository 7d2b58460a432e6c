// Moves the contents of SQLite's write-ahead log into the database in a separate thread. A checkpoint writes all over
// the file and waits for the disk; SQLite would run it during some commit, on the main thread.

import { Worker } from 'node:worker_threads'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import type { SyncLoss } from '../engine/sync-loss.ts'

export type CheckpointSettings = { readonly file: string; readonly intervalMs: number }

/**
 * What the thread reports: that it works; that checkpoints fail (once, until one succeeds again); or that the disk did
 * not confirm a checkpoint, after which the thread has ended and left its connection open.
 */
export type CheckpointMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unconfirmed'; readonly reason: string }

export type Checkpoints = {
  /** Call before the connection is closed. */
  close(): Promise<void>
}

export type CheckpointOptions = CheckpointSettings & {
  readonly log: Logger
  /** Called if the disk did not confirm a checkpoint. */
  readonly loss: SyncLoss
  /** For the connection that commits: with this many pages in the log, a commit runs a checkpoint itself. */
  readonly setAutoCheckpoint: (pages: number) => void
}

/** SQLite's default. */
const usualPages = 1000
/** 64 MB, which is reached only if the thread fails or does not keep up. */
const emergencyPages = 16_384

/** Resolves when the thread works, or cannot work: then commits run checkpoints as usual. */
export async function openCheckpoints(options: CheckpointOptions): Promise<Checkpoints> {
  const { file, intervalMs, log, loss, setAutoCheckpoint } = options
  const workerData: CheckpointSettings = { file, intervalMs }
  const thread = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), { workerData })
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  thread.on('message', (message: CheckpointMessage) => {
    if (message.kind === 'failed')
      return log.warn({ reason: message.reason }, 'the write-ahead log of the database cannot be checkpointed')
    if (message.kind === 'unconfirmed') {
      loss.declare(new Error(message.reason))
      return
    }
    setAutoCheckpoint(emergencyPages)
    begun.resolve()
  })
  thread.on('error', (error) => {
    log.error(
      { error: errorChain(error) },
      'the checkpoint thread of the database ended; checkpoints run on the main thread',
    )
    setAutoCheckpoint(usualPages)
  })
  thread.on('exit', () => ended.resolve())
  await Promise.race([begun.promise, ended.promise])
  return {
    async close() {
      thread.postMessage('close')
      await ended.promise
    },
  }
}
