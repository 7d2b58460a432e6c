// A container process: reads one camera's stream from standard input, writes its tracks and packets to standard output,
// and ends with either. The container format is its argument. It may be killed at any time.

import { setTimeout as sleep } from 'node:timers/promises'
import { AV_LOG_QUIET } from 'node-av/constants'
import { Log } from 'node-av/lib'
import type { ContainerFormat } from '../../media/container/find-container.ts'
import { type ReportedEnd, writeContainerMessage } from './container-protocol.ts'
import { LibavContainer, type StreamPacket } from './libav-container.ts'
import { Throttle } from './throttle.ts'
import { TrackChoice } from './track-choice.ts'

Log.setLevel(AV_LOG_QUIET)
// Ctrl-C reaches the whole process group. The server closes the input when it is done.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})

/** 120 MB is usual. Tables of an MP4 that claim millions of frames take a gigabyte per second. */
const maxResidentBytes = 384 * 1024 * 1024
const memoryIntervalMs = 100

// FFmpeg works in another thread, so this thread can observe its memory.
const memoryWatch = setInterval(() => {
  if (findResidentBytes() > maxResidentBytes) void finish({ kind: 'too_much' })
}, memoryIntervalMs)

const container = new LibavContainer(process.argv[2] as ContainerFormat, createInput())
const choice = new TrackChoice(container)
const throttle = new Throttle()
await finish((await container.open()) ?? (await run()))

async function finish(end: ReportedEnd): Promise<void> {
  clearInterval(memoryWatch)
  await write(writeContainerMessage({ type: 'end', end }))
  // A regular exit would wait for FFmpeg's thread.
  process.kill(process.pid, 'SIGKILL')
}

async function run(): Promise<ReportedEnd> {
  for (;;) {
    const packet = await container.read()
    const isLast = !('stream' in packet)
    const chosen = isLast ? choice.make() : choice.take(packet)
    if (chosen === 'no_video') return isLast && packet.kind !== 'ended' ? packet : { kind: 'no_video' }
    if (chosen.tracks) await write(writeContainerMessage({ type: 'tracks', tracks: chosen.tracks }))
    for (const each of chosen.packets) await send(each)
    if (isLast) return packet
  }
}

async function send({ stream: _, ...packet }: StreamPacket): Promise<void> {
  if (packet.pts90k !== undefined && packet.kind === 'video') {
    const delayMs = throttle.delayMs(packet.pts90k / 90, performance.now())
    if (delayMs > 0) await sleep(delayMs)
  }
  await write(writeContainerMessage({ type: 'packet', packet }))
}

/** Waits until the bytes are accepted. */
async function write(bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(bytes, () => resolve()))
}

function createInput(): (maxBytes: number) => Promise<Uint8Array | undefined> {
  const chunks: AsyncIterator<Buffer> = process.stdin[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  return async (maxBytes) => {
    while (rest.length === 0) {
      const next = await chunks.next()
      if (next.done) return undefined
      rest = next.value
    }
    const bytes = rest.subarray(0, maxBytes)
    rest = rest.subarray(bytes.length)
    return bytes
  }
}

function findResidentBytes(): number {
  try {
    return process.memoryUsage.rss()
  } catch {
    // In isolation without /proc, this is the peak. In a process started by bubblewrap, none of it is the server's.
    return process.resourceUsage().maxRSS * 1024
  }
}
