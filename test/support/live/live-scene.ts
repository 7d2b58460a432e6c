// For tests: LiveStreams on a camera, a decoder and a clock driven by hand.

import { AppError } from '../../../server/base/error.ts'
import { silentLogger } from '../../../server/base/log.ts'
import type { LiveChunk, LiveFormat } from '../../../server/live/live-chunk.ts'
import { LiveStreams, type LiveStreamsOptions } from '../../../server/live/live-streams.ts'
import type { StreamFormat } from '../../../server/media/frame.ts'
import type { ImageLimits } from '../../../server/media/image-size.ts'
import { settle, TestClock } from '../test-clock.ts'

export const format: StreamFormat = {
  video: {
    codec: 'h264',
    width: 1920,
    height: 1080,
    config: Uint8Array.of(1, 0x4d, 0x40, 0x1f, 0xff, 0xe1, 0, 4, 0x67, 0x4d, 0x40, 0x1f, 1, 0, 2, 0x68, 0xee),
    codecString: 'avc1.4d401f',
  },
  audio: undefined,
}

export const isKind = (kind: string) => (error: unknown) => error instanceof AppError && error.kind === kind

/** A camera's sources, driven by hand: what is sent goes to every open subscription of the format. */
export function setUp(options: Partial<LiveStreamsOptions> = {}) {
  const clock = new TestClock(1_700_000_000_000)
  const open: { format: LiveFormat; onChunk: (chunk: LiveChunk) => void; minIntervalMs: number; acked: number }[] = []
  const newest: Partial<Record<LiveFormat, LiveChunk[]>> = {}
  const subscriptions: string[] = []
  const decodes: ImageLimits[][] = []
  let decodeError: AppError | undefined
  const live = new LiveStreams({
    clock,
    log: silentLogger,
    subscriber: {
      subscribe(_cameraId, liveFormat, onChunk, { minIntervalMs = 0 } = {}) {
        const subscription = { format: liveFormat, onChunk, minIntervalMs, acked: 0 }
        open.push(subscription)
        subscriptions.push(`${liveFormat} ${minIntervalMs}`)
        for (const chunk of newest[liveFormat] ?? []) onChunk(chunk)
        return {
          ack: (bytes) => {
            subscription.acked += bytes
          },
          close: () => void open.splice(open.indexOf(subscription), 1),
        }
      },
    },
    decoder: {
      async decode({ sizes, data }) {
        decodes.push(sizes)
        if (decodeError) throw decodeError
        return sizes.map((size) => new TextEncoder().encode(`${data[0]} ${size.maxWidth ?? 'full'}`))
      },
    },
    ...options,
  })
  const send = (liveFormat: LiveFormat, ...chunks: LiveChunk[]) => {
    for (const chunk of chunks) for (const each of [...open]) if (each.format === liveFormat) each.onChunk(chunk)
  }
  return {
    clock,
    live,
    open,
    newest,
    subscriptions,
    decodes,
    send,
    failDecodes: (error: AppError | undefined) => {
      decodeError = error
    },
  }
}

export const marker = (kind: 'gap' | 'end'): LiveChunk => ({
  kind,
  isKey: false,
  wallMs: 0,
  durationMs: 0,
  data: new Uint8Array(),
})
export const init = (data: Uint8Array = new Uint8Array()): LiveChunk => ({
  ...marker('end'),
  kind: 'init',
  data,
  format,
})
export const media = (id: number, isKey: boolean, bytes = 1): LiveChunk => ({
  kind: 'media',
  isKey,
  wallMs: id * 1000,
  durationMs: 0,
  data: new Uint8Array(bytes).fill(id),
})
export const keyFrame = (id: number): LiveChunk => ({ ...media(id, true), format })

/** Reads a stream by hand: every `take` gives what has arrived, without letting time pass. */
export function reader(stream: AsyncGenerator<Uint8Array, void, void>) {
  let pending: Promise<IteratorResult<Uint8Array, void>> | undefined
  return {
    async take(max = 1000): Promise<(Uint8Array | 'end' | AppError)[]> {
      const seen: (Uint8Array | 'end' | AppError)[] = []
      while (seen.length < max) {
        pending ??= stream.next()
        await settle()
        const result = await Promise.race([pending.catch((error: AppError) => error), settle()])
        if (result === undefined) return seen
        pending = undefined
        if (result instanceof AppError) return [...seen, result]
        if (result.done) return [...seen, 'end']
        seen.push(result.value)
      }
      return seen
    },
  }
}

export const ids = (seen: (Uint8Array | 'end' | AppError)[]) =>
  seen.map((item) => (item instanceof Uint8Array ? item[0] : item))
export const texts = (seen: (Uint8Array | 'end' | AppError)[]) =>
  seen.map((item) => (item instanceof Uint8Array ? new TextDecoder().decode(item) : item))
export const notAborted = new AbortController().signal
