// How the memory of the machine is shared out between what may grow: the bounds of caches and queues whose right size depends on it.
// All bounds, also those that are the same everywhere, are in docs/design/memory.md.

import { totalmem } from 'node:os'
import process from 'node:process'
import type { TallyLimits } from './api/transport/tally.ts'

const mebibyte = 2 ** 20

/** What a connection with TLS takes, and a stream of HTTP/2 that waits: 30 kB of JavaScript's and as much of Node's own, measured. */
const connectionBytes = 64 * 1024
const waitingStreamBytes = 64 * 1024

/** What a process that decodes pictures takes, and one that takes a container apart, measured. */
const decoderBytes = 64 * mebibyte
const containerBytes = 48 * mebibyte

/** What an entry of a recorded stream takes. */
const streamEntryBytes = 600

export type MemoryShares = ReturnType<typeof shareMemory>

/** `memoryBytes`: of the machine, what the process may have of it, or what the operator says. */
export function shareMemory(memoryBytes: number, workers: number) {
  return {
    /** Of the recorders of each worker, while the disk is slow. */
    pendingBytes: Math.max(64 * mebibyte, memoryBytes / 8 / workers),
    /** Of each worker: groups of pictures for viewers that come, and those before them for players of HLS. */
    groupBytes: Math.min(512 * mebibyte, memoryBytes / 16 / workers),
    earlierBytes: memoryBytes / 32 / workers,
    /** Pieces kept for viewers that come, of all live streams. */
    retainedBytes: Math.min(512 * mebibyte, memoryBytes / 16),
    /** Segments of live HLS, of all cameras. */
    hlsBytes: Math.min(2048 * mebibyte, memoryBytes / 16),
    /** Bytes of large answers that are being sent; connections; streams of HTTP/2. Each of all clients and of one address. */
    unsentBytes: limitShare(memoryBytes / 8, 2048 * mebibyte, 256 * mebibyte),
    connections: limitShare(memoryBytes / 8 / connectionBytes, 8192, 2048),
    streams: limitShare(memoryBytes / 8 / waitingStreamBytes, 20_000, 1000),
    /** Processes that decode pictures, at most; those of each worker that take containers apart. */
    decoders: Math.max(2, Math.floor(memoryBytes / 8 / decoderBytes)),
    containers: Math.max(2, Math.min(50, Math.floor(memoryBytes / 2 / containerBytes / workers))),
    /** Of one process that decodes, beyond its runtime: a decoder of pictures may need a gigabyte, others half of that at most. */
    decodingBytes: Math.max(256 * mebibyte, Math.min(1024 * mebibyte, memoryBytes / 2)),
    /** Of all recorded streams that are in memory. */
    streamEntries: Math.min(1_000_000, Math.floor(memoryBytes / 16 / streamEntryBytes)),
  }
}

/** One address gets a quarter, so that a few of them together do not have all. */
function limitShare(share: number, most: number, mostOfOne: number): TallyLimits {
  const max = Math.floor(Math.min(most, share))
  return { max, maxOfOne: Math.floor(Math.min(mostOfOne, max / 4)) }
}

/** What the machine has, or what the process may have of it. */
export function findMemoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
