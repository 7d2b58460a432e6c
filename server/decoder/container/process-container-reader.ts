// Demultiplexes each container stream in its own process. Whatever a camera sends, only that process can crash, hang or
// grow, and it ends with the connection. docs/design/decoder.md

import type {
  ContainerEnd,
  ContainerInput,
  ContainerReader,
  ContainerSink,
} from '../../media/container/container-stream.ts'
import type { ContainerFormat } from '../../media/container/find-container.ts'
import type { Isolation } from '../isolation/isolation.ts'
import { MessageChild } from '../message-child.ts'
import { parseContainerMessage } from './container-protocol.ts'

export type ProcessContainerReaderOptions = {
  readonly isolation: Isolation
  /**
   * Memory limit of each process beyond its runtime. By default it is above the limit at which the process ends itself
   * with a better message.
   */
  readonly memoryBytes?: number
  /** Average share of one processor that each process may use. See `CpuWatch`. */
  readonly maxCpuShare?: number
  readonly cpuWindowMs?: number
  /** Maximum number of unread bytes. Beyond that, reading from the camera pauses. */
  readonly maxUnsentBytes?: number
  /** Maximum number of processes. Each takes some 50 MB. */
  readonly maxStreams?: number
}

export class ProcessContainerReader implements ContainerReader {
  readonly #isolation: Isolation
  readonly #memoryBytes: number
  readonly #cpu: Pick<ProcessContainerReaderOptions, 'maxCpuShare' | 'cpuWindowMs'>
  readonly #maxUnsentBytes: number
  readonly #maxStreams: number
  #streams = 0

  constructor({
    isolation,
    memoryBytes = 512 * 1024 * 1024,
    maxCpuShare = 0.5,
    cpuWindowMs,
    maxUnsentBytes = 512 * 1024,
    maxStreams = 50,
  }: ProcessContainerReaderOptions) {
    this.#isolation = isolation
    this.#memoryBytes = memoryBytes
    this.#cpu = { maxCpuShare, ...(cpuWindowMs !== undefined && { cpuWindowMs }) }
    this.#maxUnsentBytes = maxUnsentBytes
    this.#maxStreams = maxStreams
  }

  open(format: ContainerFormat, sink: ContainerSink): ContainerInput {
    if (this.#streams >= this.#maxStreams) {
      sink.onEnd({ kind: 'busy', limit: this.#maxStreams })
      return { push: () => true, end() {}, async [Symbol.asyncDispose]() {} }
    }
    this.#streams++
    let isOver = false
    const end = (why: ContainerEnd) => {
      if (isOver) return
      isOver = true
      sink.onEnd(why)
    }
    const child = new MessageChild({
      program: new URL('./container-process.ts', import.meta.url),
      args: [format],
      isolation: this.#isolation,
      memoryBytes: this.#memoryBytes,
      ...this.#cpu,
      onMessage: (bytes) => {
        if (isOver) return
        const message = parseContainerMessage(bytes)
        if (message.type === 'packet') sink.onPacket(message.packet)
        else if (message.type === 'tracks') sink.onTracks(message.tracks)
        else end(message.end)
      },
      onExit: (reason) => end({ kind: 'lost', reason }),
      onDrain: () => sink.onDrain(),
    })
    return {
      push: (bytes) => {
        if (!isOver) child.send([bytes])
        return child.unsentBytes < this.#maxUnsentBytes
      },
      end: () => child.endInput(),
      [Symbol.asyncDispose]: async () => {
        isOver = true
        await child.stop()
        this.#streams--
      },
    }
  }
}
