// Transcodes telephone audio to AAC in a separate process, so that a crash or hang costs one or two seconds of audio
// and no video. One instance for each media worker serves all its cameras. docs/design/decoder.md

import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { Backoff } from '../../base/retry.ts'
import { Timer } from '../../base/timer.ts'
import type { AudioSink, AudioSource, AudioTranscoder } from '../../media/telephony/audio-transcoder.ts'
import type { Isolation } from '../isolation/isolation.ts'
import { MessageChild } from '../message-child.ts'
import { type AudioReply, parseAudioReply, writeAudioRequest } from './audio-protocol.ts'

/**
 * Maximum number of chunks of a stream without their audio. A working process has two; a hanging process has all chunks
 * until it is killed.
 */
const maxUnanswered = 1000

export type ProcessTranscoderOptions = {
  readonly clock: Clock
  readonly log: Logger
  readonly isolation: Isolation
  /** Memory limit of the process beyond the needs of Node itself, for all cameras of a worker together. */
  readonly memoryBytes?: number
  /** When a chunk is not answered within this time, the process is considered hung and is killed. */
  readonly timeoutMs?: number
  /** Maximum number of bytes that the process has not read yet. Beyond that, chunks are dropped. */
  readonly maxUnsentBytes?: number
  /** The process is stopped after this time without streams. */
  readonly idleMs?: number
}

export type AudioStats = {
  readonly pid: number | undefined
  readonly streams: number
  readonly blocks: number
  readonly droppedChunks: number
  readonly crashes: number
}

type Stream = {
  readonly source: AudioSource
  readonly onReply: (reply: AudioReply) => void
  /** Send times of the chunks that were not answered yet, monotonic. */
  sentMs: number[]
  /** The process that knows the stream; a new process does not. */
  openIn: MessageChild | undefined
}

export class ProcessAudioTranscoder implements AudioTranscoder, AsyncDisposable {
  readonly #options: Required<ProcessTranscoderOptions>
  readonly #backoff = new Backoff({ minMs: 200, maxMs: 30_000 })
  readonly #streams = new Map<number, Stream>()
  #nextId = 0
  #child: MessageChild | undefined
  /** No process is started before this time, monotonic. */
  #pauseUntilMs = 0
  readonly #idle: Timer
  #isClosed = false
  #counts = { blocks: 0, droppedChunks: 0, crashes: 0 }

  constructor(options: ProcessTranscoderOptions) {
    this.#options = {
      memoryBytes: 512 * 1024 * 1024,
      ...{ timeoutMs: 10_000, maxUnsentBytes: 512 * 1024, idleMs: 10_000 },
      ...options,
    }
    this.#idle = new Timer(options.clock)
  }

  get isAvailable(): boolean {
    return !this.#isClosed && (this.#child !== undefined || this.#options.clock.monotonicMs() >= this.#pauseUntilMs)
  }

  open<Tag>(source: AudioSource, onBlock: (data: Uint8Array, tag: Tag) => void): AudioSink<Tag> {
    const streamId = this.#nextId++
    /** Tags of the chunks whose audio has not arrived. The first one belongs to chunk number `first`. */
    const tags: Tag[] = []
    let first = 0
    const onReply = ({ number, data }: AudioReply) => {
      if (number === undefined) return
      tags.splice(0, Math.max(0, number - first))
      first = Math.max(first, number)
      if (tags.length === 0) return
      try {
        onBlock(data, tags[0]!)
      } catch (error) {
        // A bug in the receiver of one camera must not stop the audio of the others, which comes from the same process.
        this.#options.log.error(
          { error: errorChain(error) },
          'an audio block could not be processed; the audio of its camera stops',
        )
        this.#close(streamId, stream)
      }
    }
    const stream: Stream = { source, onReply, sentMs: [], openIn: undefined }
    this.#streams.set(streamId, stream)
    this.#idle.stop()
    // The process takes a moment to start, and the first chunk follows soon.
    this.#start()
    return {
      push: (data, tag) => {
        if (stream.openIn && tags.length >= maxUnanswered) this.#handleLoss('it answered without audio')
        if (!this.#streams.has(streamId) || !this.#canPush(stream)) return
        if (stream.openIn !== this.#child) {
          first += tags.splice(0).length
          this.#openIn(streamId, stream)
        }
        const number = first + tags.length
        tags.push(tag)
        stream.sentMs.push(this.#options.clock.monotonicMs())
        this.#child?.send(writeAudioRequest({ type: 'chunk', streamId, number, data }))
      },
      close: () => this.#close(streamId, stream),
    }
  }

  #close(streamId: number, { openIn }: Stream): void {
    if (!this.#streams.delete(streamId)) return
    if (openIn) openIn.send(writeAudioRequest({ type: 'close', streamId }))
    if (this.#streams.size === 0) this.#stopWhenIdle()
  }

  stats(): AudioStats {
    return { pid: this.#child?.pid, streams: this.#streams.size, ...this.#counts }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#idle.stop()
    this.#streams.clear()
    await this.#child?.stop()
    this.#child = undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Returns false when the chunk must be dropped. */
  #canPush(stream: Stream): boolean {
    const { clock, timeoutMs, maxUnsentBytes } = this.#options
    const [oldestMs] = stream.sentMs
    if (oldestMs !== undefined && clock.monotonicMs() - oldestMs > timeoutMs)
      this.#handleLoss(`no answer in ${timeoutMs} ms`)
    this.#start()
    if (this.#child && this.#child.unsentBytes < maxUnsentBytes) return true
    this.#counts.droppedChunks++
    return false
  }

  #openIn(streamId: number, stream: Stream): void {
    stream.openIn = this.#child
    stream.sentMs = []
    const { coding, sampleRate } = stream.source
    this.#child?.send(writeAudioRequest({ type: 'open', streamId, coding, sampleRate }))
  }

  #start(): void {
    if (this.#child || !this.isAvailable) return
    const child: MessageChild = new MessageChild({
      program: new URL('./audio-process.ts', import.meta.url),
      isolation: this.#options.isolation,
      memoryBytes: this.#options.memoryBytes,
      onMessage: (message) => this.#answer(child, parseAudioReply(message)),
      onExit: (reason) => {
        if (this.#child === child) this.#handleLoss(reason)
      },
    })
    this.#child = child
  }

  #answer(child: MessageChild, reply: AudioReply): void {
    const stream = this.#streams.get(reply.streamId)
    if (!stream || stream.openIn !== child) return
    stream.sentMs.shift()
    this.#backoff.reset()
    if (reply.number !== undefined) this.#counts.blocks++
    stream.onReply(reply)
  }

  /**
   * Called when the process died or hangs. Its streams are opened in the next process when their next chunk arrives.
   */
  #handleLoss(reason: string): void {
    const child = this.#child
    this.#child = undefined
    this.#counts.crashes++
    this.#pauseUntilMs = this.#options.clock.monotonicMs() + this.#backoff.nextMs()
    this.#options.log.warn({ reason }, 'the audio process was lost and will be restarted')
    for (const stream of this.#streams.values()) {
      stream.openIn = undefined
      stream.sentMs = []
    }
    void child?.stop()
  }

  /** The process stays for a while, so that a camera that reconnects finds it running. */
  #stopWhenIdle(): void {
    this.#idle.start(this.#options.idleMs, () => {
      const child = this.#child
      this.#child = undefined
      void child?.stop()
    })
  }
}
