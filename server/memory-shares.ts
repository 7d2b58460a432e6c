// Divides the machine's memory among the caches and queues whose limits depend on it. All limits, including the fixed
// ones, are listed in docs/design/memory.md.

import { totalmem } from 'node:os'
import process from 'node:process'
import type { UsageLimits } from './api/transport/usage-counter.ts'

const mebibyte = 2 ** 20

/**
 * Measured memory of a TLS connection and of a waiting HTTP/2 stream: 30 kB of JavaScript and as much of Node's own.
 */
const connectionBytes = 64 * 1024
const waitingStreamBytes = 64 * 1024

/** Measured memory of an image decoder process and of a container process. */
const decoderBytes = 64 * mebibyte
const containerBytes = 48 * mebibyte

/** Memory of an entry of a recorded stream. */
const streamEntryBytes = 600

export type MemoryShares = ReturnType<typeof shareMemory>

/** `memoryBytes`: memory of the machine, the limit of the process, or the operator's setting. */
export function shareMemory(memoryBytes: number, workers: number) {
  return {
    /** For the recorders of each worker while the disk is slow. */
    pendingBytes: Math.max(64 * mebibyte, memoryBytes / 8 / workers),
    /** For each worker: groups of pictures for new viewers, and earlier ones for HLS players. */
    groupBytes: Math.min(512 * mebibyte, memoryBytes / 16 / workers),
    earlierBytes: memoryBytes / 32 / workers,
    /** Chunks kept for new viewers of all live streams. */
    retainedBytes: Math.min(512 * mebibyte, memoryBytes / 16),
    /** Segments of live HLS of all cameras. */
    hlsBytes: Math.min(2048 * mebibyte, memoryBytes / 16),
    /** Bytes of large responses in transit, connections, and HTTP/2 streams; for all clients and for one address. */
    unsentBytes: limitShare(memoryBytes / 8, 2048 * mebibyte, 256 * mebibyte),
    connections: limitShare(memoryBytes / 8 / connectionBytes, 8192, 2048),
    streams: limitShare(memoryBytes / 8 / waitingStreamBytes, 20_000, 1000),
    /** Maximum number of image decoder processes, and of container processes per worker. */
    decoders: Math.max(2, Math.floor(memoryBytes / 8 / decoderBytes)),
    containers: Math.max(2, Math.min(50, Math.floor(memoryBytes / 2 / containerBytes / workers))),
    /**
     * Memory of one decoding process beyond its runtime: an image decoder may need a gigabyte, others at most half of
     * that.
     */
    decodingBytes: Math.max(256 * mebibyte, Math.min(1024 * mebibyte, memoryBytes / 2)),
    /** For all recorded streams in memory. */
    streamEntries: Math.min(1_000_000, Math.floor(memoryBytes / 16 / streamEntryBytes)),
    /** Parts of objects in buckets. */
    bucketBytes: Math.max(16 * mebibyte, Math.min(512 * mebibyte, memoryBytes / 16)),
    /** Layouts of the downloads that are being sent. */
    layoutBytes: Math.min(512 * mebibyte, memoryBytes / 16),
  }
}

/** One address gets a quarter, so that a few addresses cannot use everything. */
function limitShare(share: number, most: number, mostOfOne: number): UsageLimits {
  const max = Math.floor(Math.min(most, share))
  return { max, maxOfOne: Math.floor(Math.min(mostOfOne, max / 4)) }
}

/** Memory of the machine, or the limit of the process. */
export function findMemoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
