// Produces the bytes for one MP4 or MPEG-TS viewer, or for one page: a file that grows until the camera's run ends.

import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { Timer } from '../base/timer.ts'
import { formatCodecs } from '../media/mp4/init-segment.ts'
import type { LiveChunk } from './live-chunk.ts'
import { Mp4Rebase } from './mp4-rebase.ts'
import { MseStream } from './mse-stream.ts'
import type { ViewerQueue } from './viewer-queue.ts'

export type ReadOptions = {
  readonly clock: Clock
  /** How long to wait for the first frame. */
  readonly firstTimeoutMs: number
  readonly signal: AbortSignal
}

/** Bytes for Media Source, and the RFC 6381 codec strings of the tracks they belong to, separated by commas. */
export type MseChunk = { readonly codecs: string; readonly data: Uint8Array }

/**
 * Yields the data of each live chunk; the first is preceded by the head of the file. Throws 'unavailable' if no frame
 * arrives in time. Ends when the queue ends or `signal` aborts.
 */
export async function* runProgressive(
  queue: ViewerQueue,
  { format, ...options }: ReadOptions & { readonly format: 'mp4' | 'mpegts' },
): AsyncGenerator<Uint8Array, void, void> {
  let head: Uint8Array | undefined
  let rebase: Mp4Rebase | undefined
  for await (const chunk of readChunks(queue, options)) {
    if (chunk.kind === 'init') {
      head = chunk.data
      if (format === 'mp4') rebase = new Mp4Rebase(chunk.format?.audio?.sampleRate)
      continue
    }
    const data = rebase ? rebase.rebase(chunk.data, options.clock.nowMs() - chunk.wallMs) : chunk.data
    if (!data) continue
    yield head && head.length > 0 ? concat(head, data) : data
    head = undefined
  }
}

/** The same for a page that plays it with Media Source: see mse-stream.ts. */
export async function* runMse(
  queue: ViewerQueue,
  { hasAudio, ...options }: ReadOptions & { readonly hasAudio: boolean },
): AsyncGenerator<MseChunk, void, void> {
  let stream: MseStream | undefined
  let codecs = ''
  let head: Uint8Array | undefined
  for await (const chunk of readChunks(queue, options)) {
    if (chunk.kind === 'init') {
      const { video, audio } = chunk.format!
      stream = new MseStream({ video, audio }, hasAudio)
      codecs = formatCodecs({ video, audio: hasAudio ? audio : undefined })
      head = stream.head
      continue
    }
    const data = stream?.push(chunk)
    if (!data) continue
    yield { codecs, data: head ? concat(head, data) : data }
    head = undefined
  }
}

/** Throws 'unavailable' if no frame arrives in time. */
async function* readChunks(
  queue: ViewerQueue,
  { clock, firstTimeoutMs, signal }: ReadOptions,
): AsyncGenerator<LiveChunk, void, void> {
  const abort = () => queue.abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    let isFirst = true
    const firstByMs = clock.monotonicMs() + firstTimeoutMs
    for (;;) {
      const chunk = isFirst ? await nextWithin(queue, clock, firstByMs - clock.monotonicMs()) : await queue.next()
      if (!chunk) {
        if (isFirst && !signal.aborted) throw noFrame(firstTimeoutMs)
        return
      }
      if (chunk.kind !== 'init') isFirst = false
      yield chunk
    }
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

async function nextWithin(queue: ViewerQueue, clock: Clock, ms: number): Promise<LiveChunk | undefined> {
  const timer = new Timer(clock)
  timer.start(ms, () => queue.abort())
  try {
    return await queue.next()
  } finally {
    timer.stop()
  }
}

function noFrame(ms: number): AppError {
  return new AppError('unavailable', `the camera sent no video within ${ms / 1000} s`)
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const out = new Uint8Array(a.length + b.length)
  out.set(a)
  out.set(b, a.length)
  return out
}
