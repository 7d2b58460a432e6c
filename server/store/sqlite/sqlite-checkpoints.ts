// Moves what is in SQLite's write-ahead log into the database, in a thread of its own. A checkpoint writes all over the
// file and waits for the disk; SQLite would do it in the middle of some commit, in the thread that answers everybody.

import { Worker } from 'node:worker_threads'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import type { SyncLoss } from '../engine/sync-loss.ts'

export type CheckpointSettings = { readonly file: string; readonly intervalMs: number }

/**
 * What the thread tells: that it works; that checkpoints fail, once until one succeeds again; that the disk did not
 * confirm one: then it has ended, and left its connection open.
 */
export type CheckpointMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unconfirmed'; readonly reason: string }

export type Checkpoints = {
  /** Before the connection is closed. */
  close(): Promise<void>
}

export type CheckpointOptions = CheckpointSettings & {
  readonly log: Logger
  /** Told when the disk did not confirm a checkpoint. */
  readonly loss: SyncLoss
  /** Of the connection that commits: after so many pages in the log a commit checkpoints by itself. */
  readonly setAutoCheckpoint: (pages: number) => void
}

/** SQLite's own default. */
const usualPages = 1000
/** 64 MB: the thread does not keep up, or fails. */
const emergencyPages = 16_384

/** Resolves when the thread works, or cannot: then commits checkpoint as they always did. */
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
