// The hash that authorizes a camera to report events, as stored: sealed, because its owner may read it at any time, and
// as SHA-256, to find the camera by it.

import { createHash } from 'node:crypto'
import type { SealedBox } from '../../base/sealed-box.ts'

const mark = 'v1.'

export function sealEventHash(box: SealedBox, cameraId: number, hash: string): string {
  return mark + Buffer.from(box.seal(hash, contextOf(cameraId))).toString('base64url')
}

/** Throws 'corrupt'. */
export function openEventHash(box: SealedBox, cameraId: number, sealed: string): string {
  return box.unseal(Buffer.from(sealed.slice(mark.length), 'base64url'), contextOf(cameraId))
}

export function digestEventHash(hash: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(hash).digest())
}

const contextOf = (cameraId: number) => `camera ${cameraId} event hash`
