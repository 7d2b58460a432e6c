// A recorded session with a camera: what both sides sent, with the time of each part, without credentials. It is the
// form in which a camera that does not work is reported, and replayed-camera.ts plays it as a camera. A line is a JSON
// object; text stays readable, so that its owner can see what is in it.

import { AppError } from '../../base/error.ts'
import { hideSecrets } from '../../model/camera-url.ts'
import type { TappedEvent } from './session-tap.ts'

/** `atMs`: since the session began. */
export type RecordedEvent = TappedEvent & { readonly atMs: number }

export type RecordedSession = {
  /** The camera URL without user information, its secrets replaced as in the events. */
  readonly url: string
  /** ISO 8601. */
  readonly recordedAt: string
  /** The version that recorded it. */
  readonly version: string
  readonly events: readonly RecordedEvent[]
}

export type SessionSecrets = {
  readonly url: string
  readonly username: string | null
  readonly password: string | null
}

const format = 'nightjar-camera-session'

/** Notes the events of a session up to `maxBytes`; what comes after that is left out. */
export class SessionRecorder {
  readonly #nowMs: () => number
  readonly #maxBytes: number
  readonly #startMs: number
  readonly #events: RecordedEvent[] = []
  #bytes = 0

  constructor(nowMs: () => number, maxBytes: number) {
    this.#nowMs = nowMs
    this.#maxBytes = maxBytes
    this.#startMs = nowMs()
  }

  take(event: TappedEvent): void {
    const atMs = Math.round(this.#nowMs() - this.#startMs)
    if (!('bytes' in event)) {
      this.#events.push({ ...event, atMs })
      return
    }
    this.#bytes += event.bytes.length
    if (this.#bytes <= this.#maxBytes) this.#events.push({ ...event, atMs, bytes: event.bytes.slice() })
  }

  /** True if something was left out. */
  get isFull(): boolean {
    return this.#bytes > this.#maxBytes
  }

  /** The session so far without the credentials in `secrets`. Every byte of them is replaced by an `x`. */
  finish(secrets: SessionSecrets): Pick<RecordedSession, 'url' | 'events'> {
    const { maskText, maskBytes } = createMask(secrets)
    let events = this.#events
    // A secret may begin in one part and end in the next, so the parts of one direction are searched as one.
    for (const kind of ['sent', 'received'] as const) {
      const parts = events.flatMap((event) => (event.kind === kind ? [event.bytes] : []))
      const masked = Buffer.from(maskBytes(Buffer.concat(parts).toString('latin1')), 'latin1')
      let at = 0
      events = events.map((event) => {
        if (event.kind !== kind) return event
        at += event.bytes.length
        return { ...event, bytes: masked.subarray(at - event.bytes.length, at) }
      })
    }
    return { url: maskText(secrets.url), events }
  }
}

/** Packets may contain the bytes of a short secret by chance, but no readable text of this length. */
const readable = /[\t\r\n\x20-\x7e]{24,}/g
const minLengthAnywhere = 8
const minLengthInText = 3

const cover = (secret: string) => 'x'.repeat(secret.length)

/** Returns functions that replace credentials in text, and in bytes given as one character per byte. */
function createMask({ url, username, password }: SessionSecrets) {
  const inUrl: string[] = []
  hideSecrets(url, (secret) => {
    inUrl.push(secret)
    return ''
  })
  const given = [username ?? '', password ?? '', ...inUrl]
  const pair = Buffer.from(`${username}:${password}`).toString('base64')
  const secrets = [...new Set([...given, ...given.map(encodeURIComponent), pair])]
    .map((secret) => Buffer.from(secret).toString('latin1'))
    // The longest first, because a password may contain the user name.
    .sort((a, b) => b.length - a.length)
  const replaceAll = (found: string, minLength: number) =>
    secrets
      .filter((secret) => secret.length >= minLength)
      .reduce((rest, secret) => rest.replaceAll(secret, cover(secret)), found)
  const maskText = (found: string) => {
    const masked = found
      .replace(
        /^((?:proxy-)?authorization:[ \t]*(?:[a-z]+[ \t]+)?)([^\r\n]+)/gim,
        (_, name, value) => name + cover(value),
      )
      .replace(/(?<=:\/\/)[^\s/@]+(?=@)/g, cover)
    return replaceAll(hideSecrets(masked, cover), minLengthInText)
  }
  return {
    maskText,
    maskBytes: (bytes: string) => replaceAll(bytes.replace(readable, maskText), minLengthAnywhere),
  }
}

export function writeSession({ url, recordedAt, version, events }: RecordedSession): string {
  const head = { format, version: 1, url, recorded_at: recordedAt, nightjar: version }
  const lines = events.map((event) => {
    const { kind, atMs } = event
    const line = { at: atMs, event: kind, ...('track' in event && { track: event.track }) }
    return 'bytes' in event ? { ...line, ...writeBytes(event.bytes) } : line
  })
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
}

function writeBytes(bytes: Uint8Array): { text: string } | { base64: string } {
  const latin1 = Buffer.from(bytes).toString('latin1')
  return /^[\t\r\n\x20-\x7e]+$/.test(latin1) ? { text: latin1 } : { base64: Buffer.from(bytes).toString('base64') }
}

/** @throws AppError 'invalid' with the number of the line that cannot be read */
export function parseSession(text: string): RecordedSession {
  const lines = text.split('\n')
  const head = parseLine(lines[0]!, 1)
  if (head.format !== format) throw new AppError('invalid', 'The file is not a recorded camera session.')
  if (head.version !== 1) {
    throw new AppError('invalid', 'The session was recorded by a later version of Nightjar: update this one.')
  }
  const { url, recorded_at: recordedAt, nightjar: version } = head
  if (typeof url !== 'string' || !URL.canParse(url)) throw describeLine(1)
  const events = lines.slice(1).flatMap((line, i) => (line === '' ? [] : parseEvent(parseLine(line, i + 2), i + 2)))
  return { url, recordedAt: String(recordedAt), version: String(version), events }
}

function parseLine(line: string, number: number): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  throw number === 1 ? new AppError('invalid', 'The file is not a recorded camera session.') : describeLine(number)
}

function parseEvent(
  { at, event: kind, track, text, base64 }: Readonly<Record<string, unknown>>,
  line: number,
): RecordedEvent {
  if (typeof at !== 'number' || !(at >= 0)) throw describeLine(line)
  if (kind === 'connect' || kind === 'end' || kind === 'left') return { kind, atMs: at }
  const bytes =
    typeof text === 'string'
      ? Buffer.from(text, 'latin1')
      : typeof base64 === 'string'
        ? Buffer.from(base64, 'base64')
        : undefined
  if (!bytes) throw describeLine(line)
  if (kind === 'sent' || kind === 'received') return { kind, atMs: at, bytes }
  const isTrack = typeof track === 'number' && track >= 0
  if ((kind === 'rtp' || kind === 'rtcp') && isTrack) return { kind, atMs: at, track, bytes }
  throw describeLine(line)
}

function describeLine(number: number): AppError {
  return new AppError('invalid', `Line ${number} of the recorded session cannot be read.`)
}
