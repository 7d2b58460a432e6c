// Telephone audio to AAC, in a process of its own: what crashes or hangs there costs the audio of a second or two, never a picture.
// One for each media worker; it serves all cameras of it. docs/design/decoder.md

import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { Backoff } from '../../base/retry.ts'
import type { AudioSink, AudioSource, AudioTranscoder } from '../../media/telephony/audio-transcoder.ts'
import type { Isolation } from '../isolation/isolation.ts'
import { MessageChild } from '../message-child.ts'
import { type AudioReply, parseAudioReply, writeAudioRequest } from './audio-protocol.ts'

/** Chunks of a stream whose audio has not come back; of a process that works it is two, of one that hangs what comes until it is killed. */
const maxBehind = 1000

export type ProcessTranscoderOptions = {
  readonly clock: Clock
  readonly log: Logger
  readonly isolation: Isolation
  /** What the process may take beyond its runtime, for all cameras of a worker together. */
  readonly memoryBytes?: number
  /** A chunk that is not answered in this time: the process hangs and is killed. */
  readonly timeoutMs?: number
  /** Bytes the process may be behind; more, and chunks are dropped. */
  readonly maxUnsentBytes?: number
  /** The process is stopped when there was no stream for this time. */
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
  /** When the chunks not yet answered were sent, monotonic. */
  sentMs: number[]
  /** The process it is open in; another one knows nothing of it. */
  openIn: MessageChild | undefined
}

export class ProcessAudioTranscoder implements AudioTranscoder, AsyncDisposable {
  readonly #options: Required<ProcessTranscoderOptions>
  readonly #backoff = new Backoff({ minMs: 200, maxMs: 30_000 })
  readonly #streams = new Map<number, Stream>()
  #nextId = 0
  #child: MessageChild | undefined
  /** No process is started before this, monotonic. */
  #pauseUntilMs = 0
  #idle: AbortController | undefined
  #isClosed = false
  #counts = { blocks: 0, droppedChunks: 0, crashes: 0 }

  constructor(options: ProcessTranscoderOptions) {
    this.#options = {
      memoryBytes: 512 * 1024 * 1024,
      ...{ timeoutMs: 10_000, maxUnsentBytes: 512 * 1024, idleMs: 10_000 },
      ...options,
    }
  }

  get isAvailable(): boolean {
    return !this.#isClosed && (this.#child !== undefined || this.#options.clock.monotonicMs() >= this.#pauseUntilMs)
  }

  open<Tag>(source: AudioSource, onBlock: (data: Uint8Array, tag: Tag) => void): AudioSink<Tag> {
    const streamId = this.#nextId++
    /** Of the chunks whose audio has not come back, the first of which has this number. */
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
        // A bug of ours, over the audio of one camera: that of the others comes from the same process.
        this.#options.log.error({ error: errorChain(error) }, 'a block of audio could not be taken')
        this.#close(streamId, stream)
      }
    }
    const stream: Stream = { source, onReply, sentMs: [], openIn: undefined }
    this.#streams.set(streamId, stream)
    this.#idle?.abort()
    // It takes a moment to be there; the first chunk follows soon.
    this.#start()
    return {
      push: (data, tag) => {
        if (stream.openIn && tags.length >= maxBehind) this.#lose('it answers without audio')
        if (!this.#streams.has(streamId) || !this.#mayPush(stream)) return
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
    if (this.#streams.size === 0) this.#stopLater()
  }

  stats(): AudioStats {
    return { pid: this.#child?.pid, streams: this.#streams.size, ...this.#counts }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#idle?.abort()
    this.#streams.clear()
    await this.#child?.stop()
    this.#child = undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** False when this chunk is dropped. */
  #mayPush(stream: Stream): boolean {
    const { clock, timeoutMs, maxUnsentBytes } = this.#options
    const [oldestMs] = stream.sentMs
    if (oldestMs !== undefined && clock.monotonicMs() - oldestMs > timeoutMs) this.#lose(`no answer in ${timeoutMs} ms`)
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
        if (this.#child === child) this.#lose(reason)
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

  /** The process died or hangs: its streams are opened anew in the next, with what comes then. */
  #lose(reason: string): void {
    const child = this.#child
    this.#child = undefined
    this.#counts.crashes++
    this.#pauseUntilMs = this.#options.clock.monotonicMs() + this.#backoff.nextMs()
    this.#options.log.warn({ reason }, 'the process that encodes audio was lost and is started again')
    for (const stream of this.#streams.values()) {
      stream.openIn = undefined
      stream.sentMs = []
    }
    void child?.stop()
  }

  /** A camera that reconnects finds it running. */
  #stopLater(): void {
    const idle = new AbortController()
    this.#idle = idle
    this.#options.clock.sleep(this.#options.idleMs, idle.signal).then(
      () => {
        const child = this.#child
        this.#child = undefined
        void child?.stop()
      },
      () => {}, // a stream was opened, or all is closed
    )
  }
}
