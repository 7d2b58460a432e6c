// The connection to an HTTP camera, whose response heads may have lines that no parser of HTTP accepts. Such lines are
// left out, and everything else passes as it is.

import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { SessionTap } from '../recorded/session-tap.ts'

/** A longer head passes as it is; the parser has a limit of its own. */
const maxHeadBytes = 64 * 1024

export class RepairedSocket extends Duplex {
  readonly #socket: Socket
  readonly #onRepair: () => void
  readonly #tap: SessionTap | undefined
  /** What has arrived of the head of the next response; undefined while its body arrives. */
  #head: Buffer | undefined = Buffer.alloc(0)
  /** The camera has sent all it will send. */
  #hasEnded = false

  /** `onRepair`: called when something was left out. */
  constructor(socket: Socket, onRepair: () => void = () => {}, tap?: SessionTap) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    this.#onRepair = onRepair
    this.#tap = tap
    tap?.({ kind: 'connect' })
    socket.on('data', (bytes) => this.#take(bytes))
    socket.on('end', () => {
      this.#hasEnded = true
      tap?.({ kind: 'end' })
      this.#pass(this.#head ?? Buffer.alloc(0))
      this.push(null)
    })
    socket.on('error', (error) => this.destroy(error))
    // After an ordinary end, what has arrived may still wait to be read.
    socket.on('close', () => {
      if (!this.#hasEnded) this.destroy()
    })
  }

  override _read(): void {
    this.#socket.resume()
  }

  /** No request is sent before the response to the last one has been read. */
  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#head ??= Buffer.alloc(0)
    this.#tap?.({ kind: 'sent', bytes })
    this.#socket.write(bytes, done)
  }

  override _final(done: () => void): void {
    if (this.#socket.destroyed) done()
    else this.#socket.end(() => done())
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#hasEnded) this.#tap?.({ kind: 'left' })
    this.#socket.destroy()
    done(error)
  }

  /** These are what the agent of Node.js calls for a connection that it keeps. */
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms)
    return this
  }

  setKeepAlive(isOn?: boolean, delayMs?: number): this {
    this.#socket.setKeepAlive(isOn, delayMs)
    return this
  }

  ref(): this {
    this.#socket.ref()
    return this
  }

  unref(): this {
    this.#socket.unref()
    return this
  }

  #take(bytes: Buffer): void {
    this.#tap?.({ kind: 'received', bytes })
    if (!this.#head) {
      this.#pass(bytes)
      return
    }
    this.#head = Buffer.concat([this.#head, bytes])
    const end = findHeadEnd(this.#head)
    if (end < 0 && this.#head.length < maxHeadBytes) return
    const [head, body] =
      end < 0 ? [this.#head, Buffer.alloc(0)] : [this.#head.subarray(0, end), this.#head.subarray(end)]
    this.#head = undefined
    const repaired = end < 0 ? head : repairHead(head)
    if (repaired.length < head.length) this.#onRepair()
    this.#pass(Buffer.concat([repaired, body]))
  }

  #pass(bytes: Buffer): void {
    if (bytes.length > 0 && !this.push(bytes)) this.#socket.pause()
  }
}

/** Returns the position behind the empty line, or -1. Some cameras end lines with LF alone. */
function findHeadEnd(bytes: Buffer): number {
  const [crlf, lf] = [bytes.indexOf('\r\n\r\n'), bytes.indexOf('\n\n')]
  if (crlf < 0 && lf < 0) return -1
  return lf < 0 || (crlf >= 0 && crlf < lf) ? crlf + 4 : lf + 2
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controlCharacters = /[\0-\x08\x0a-\x1f\x7f]/

/**
 * Leaves out lines without a name or a colon (home-assistant/core issue 14960), lengths that are no numbers, and values
 * with control characters; also the space between a name and its colon. Without a length, the body ends with the
 * connection.
 */
function repairHead(head: Buffer): Buffer {
  const [status, ...lines] = head.toString('latin1').split('\n')
  const kept = lines.flatMap((line, i) => {
    if (line.trim() === '') return i >= lines.length - 2 ? [line] : []
    // Continues the line before.
    if (/^[ \t]/.test(line)) return controlCharacters.test(line.trimEnd()) ? [] : [line]
    const [, name, value = ''] = /^([\w!#$%&'*+.^`|~-]+)[ \t]*:([^\n]*)$/.exec(line) ?? []
    if (name === undefined || controlCharacters.test(value.trimEnd())) return []
    if (/^content-length$/i.test(name) && !/^\s*\d+\s*$/.test(value)) return []
    return [`${name}:${value}`]
  })
  return Buffer.from([status, ...kept].join('\n'), 'latin1')
}
