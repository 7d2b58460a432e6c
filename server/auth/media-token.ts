// Signed tokens of media URLs. `<img>` and `<video>` send no Authorization header, so the URL itself states who may
// view what until when.
//
// Layout, before base64url: version (1 byte) | key id (1) | kind (1) | expiry in Unix seconds (4, big-endian) | kind of
// credential (1) | camera id, user id and credential id (LEB128 each) | live view as text | the first 16 bytes of the
// HMAC-SHA256 of everything before it.

import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { type LiveView, parseLiveView, writeLiveView } from '../model/live-view.ts'
import type { Credential } from './caller.ts'

/** The kinds of media. Existing codes never change. */
const kindCodes = { mjpeg: 1, mp4: 2, mpegts: 3, hls: 4, live_snapshot: 5, snapshot: 6, recorded_image: 7 } as const

const credentialCodes = { personal: 1, grant: 2 } as const satisfies Record<Credential['kind'], number>

export type MediaKind = keyof typeof kindCodes

export type MediaGrant = {
  readonly kind: MediaKind
  readonly cameraId: number
  /** The viewer and the credential that the URL was issued for. If either is rejected, so is the URL. */
  readonly userId: number
  readonly credential: Credential
  readonly view: LiveView
}

export const mediaTokenTtlMs = 7_200_000

/**
 * Expiry times are rounded up to this interval, so that a URL and the responses that contain it stay the same for a
 * while.
 */
export const mediaTokenSlotMs = 600_000

const version = 2
const keyId = 1
const headBytes = 8
const macBytes = 16
const maxTokenLength = 256

export class MediaTokens {
  readonly #key: KeyObject
  readonly #clock: Clock

  /** `key` has 32 bytes and is used for nothing else. */
  constructor(key: Uint8Array, clock: Clock) {
    this.#key = createSecretKey(key)
    this.#clock = clock
  }

  /** When a token that is signed now expires, in Unix milliseconds. It changes once per interval. */
  nextExpiryMs(): number {
    return Math.ceil((this.#clock.nowMs() + mediaTokenTtlMs) / mediaTokenSlotMs) * mediaTokenSlotMs
  }

  /** Returns about 45 URL-safe characters. */
  sign(grant: MediaGrant): string {
    const bytes = Buffer.allocUnsafe(maxTokenLength)
    bytes[0] = version
    bytes[1] = keyId
    bytes[2] = kindCodes[grant.kind]
    bytes.writeUInt32BE(this.nextExpiryMs() / 1000, 3)
    bytes[7] = credentialCodes[grant.credential.kind]
    let end = headBytes
    for (const id of [grant.cameraId, grant.userId, grant.credential.id]) end = writeVarint(bytes, end, id)
    const view = writeLiveView(grant.view)
    if (view !== '') end += bytes.write(view, end, 'latin1')
    this.#mac(bytes.subarray(0, end)).copy(bytes, end, 0, macBytes)
    return bytes.toString('base64url', 0, end + macBytes)
  }

  /**
   * Returns the values that were signed. Throws 'forbidden' unless the token is for this kind and camera, unmodified
   * and not expired.
   */
  verify(
    token: string,
    { kind, cameraId }: Pick<MediaGrant, 'kind' | 'cameraId'>,
  ): MediaGrant & { expiresAtMs: number } {
    const { grantKind, expiresAtMs, ...grant } = this.#open(token)
    if (grantKind !== kindCodes[kind] || grant.cameraId !== cameraId)
      throw forbidden('is for a different kind of media or another camera')
    if (expiresAtMs <= this.#clock.nowMs()) throw forbidden('has expired: request the camera again to get a new URL')
    return { kind, expiresAtMs, ...grant }
  }

  #open(token: string): Omit<MediaGrant, 'kind'> & { grantKind: number; expiresAtMs: number } {
    const bytes = Buffer.from(token.length <= maxTokenLength ? token : '', 'base64url')
    const end = bytes.length - macBytes
    // Base64 has unused bits at its end and decoders are lenient. Only the spelling that `sign` produces is accepted.
    const isWellFormed = end > headBytes && bytes.toString('base64url') === token
    if (!isWellFormed || bytes[0] !== version || bytes[1] !== keyId) throw forbidden('is malformed')
    const mac = this.#mac(bytes.subarray(0, end)).subarray(0, macBytes)
    if (!timingSafeEqual(mac, bytes.subarray(end))) throw forbidden('has an invalid signature')
    const ids: number[] = []
    let offset = headBytes
    while (ids.length < 3) {
      const { value, next } = readVarint(bytes, offset)
      ids.push(value)
      offset = next
    }
    const [cameraId, userId, id] = ids as [number, number, number]
    const credential: Credential = { kind: bytes[7] === credentialCodes.grant ? 'grant' : 'personal', id }
    const view = parseLiveView(bytes.toString('latin1', offset, end))
    if (!view) throw forbidden('is malformed')
    return { grantKind: bytes[2]!, expiresAtMs: bytes.readUInt32BE(3) * 1000, cameraId, userId, credential, view }
  }

  #mac(bytes: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(bytes).digest()
  }
}

function forbidden(what: string): AppError {
  return new AppError('forbidden', `the token in this media URL ${what}`)
}

/** Writes a non-negative safe integer as LEB128 and returns the next offset. */
function writeVarint(bytes: Uint8Array, offset: number, value: number): number {
  let rest = value
  while (rest >= 128) {
    bytes[offset++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  bytes[offset++] = rest
  return offset
}

function readVarint(bytes: Uint8Array, offset: number): { value: number; next: number } {
  let value = 0
  let scale = 1
  let next = offset
  for (; ; scale *= 128) {
    const byte = bytes[next++]!
    value += (byte & 127) * scale
    if (byte < 128) return { value, next }
  }
}
