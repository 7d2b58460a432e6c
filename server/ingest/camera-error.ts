// Why a camera gives no frames: the reason a program uses, and one sentence for its owner with a hint of what to try.

import { AppError, type ErrorKind } from '../base/error.ts'
import type { GapReason } from '../hub/hub-item.ts'

export class CameraError extends AppError {
  readonly reason: GapReason

  /** `detail`: one readable sentence, no secret, no user information of a URL. */
  constructor(reason: GapReason, detail: string, options: { cause?: unknown; kind?: ErrorKind } = {}) {
    super(options.kind ?? 'unavailable', detail, 'cause' in options ? { cause: options.cause } : {})
    this.reason = reason
  }
}

/** Whatever a session throws, as the owner is to read it. */
export function toCameraError(error: unknown): CameraError {
  if (error instanceof CameraError) return error
  if (error instanceof AppError && error.kind === 'corrupt') {
    // What a host answered is not quoted: whoever names the host would read what it says.
    return new CameraError(
      'no_frames',
      'The camera answered with something other than RTSP: check the port of the URL.',
      {
        cause: error,
        kind: 'corrupt',
      },
    )
  }
  if (error instanceof AppError) {
    const message = error.message.charAt(0).toUpperCase() + error.message.slice(1)
    // The sentence is the same: only what is behind it goes along.
    return new CameraError('camera_unreachable', `${message}.`, { cause: error.cause, kind: error.kind })
  }
  return new CameraError('camera_unreachable', 'The connection to the camera failed unexpectedly.', {
    cause: error,
    kind: 'internal',
  })
}

const connectHints: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'refused the connection: check the port (often 554) and that RTSP is switched on in the camera'],
  ['EHOSTUNREACH', 'cannot be reached: check that the camera is on and its address is right'],
  ['ENETUNREACH', 'is in a network this server cannot reach: check the address'],
  ['ETIMEDOUT', 'did not answer: check that the camera is on and its address is right'],
  ['ECONNRESET', 'closed the connection'],
  ['EPIPE', 'closed the connection'],
])

/** A failed or lost connection; `host` as the owner wrote it, with the port. */
export function describeSocketError(error: Error, host: string, isTls: boolean): CameraError {
  const code = 'code' in error ? String(error.code) : ''
  const hint = connectHints.get(code)
  if (hint !== undefined)
    return new CameraError('camera_unreachable', `The camera at ${host} ${hint}.`, { cause: error })
  if (isTls && (code.startsWith('ERR_SSL') || code === 'EPROTO')) {
    const detail = `The camera at ${host} does not speak TLS in a way this server can: try rtsp:// instead of rtsps://, or another port.`
    return new CameraError('camera_unreachable', detail, { cause: error })
  }
  return new CameraError(
    'camera_unreachable',
    `The connection to the camera at ${host} failed (${code || 'unknown'}).`,
    {
      cause: error,
    },
  )
}

/** An RTSP answer other than 2xx. */
export function describeStatus(status: number, method: string, hasCredentials: boolean): CameraError {
  if (status === 401) {
    const detail = hasCredentials
      ? 'The camera refused the user name or password (401): check both; some cameras have separate accounts for video streams.'
      : 'The camera asks for a user name and password (401): add them to this camera.'
    return new CameraError('auth_failed', detail, { kind: 'unauthenticated' })
  }
  if (status === 403) {
    const detail = 'The camera does not let this user watch the stream (403): give the account the right to view video.'
    return new CameraError('auth_failed', detail, { kind: 'forbidden' })
  }
  if (status >= 300 && status < 400) {
    const detail = `The camera redirects to another address (${status}), which is not followed: enter the final address.`
    return new CameraError('no_frames', detail)
  }
  return new CameraError(
    'no_frames',
    statusHints.get(status) ?? `The camera answered ${method} with the error ${status}.`,
  )
}

const statusHints: ReadonlyMap<number, string> = new Map([
  [400, 'The camera does not understand the request (400): check the path of the URL.'],
  [404, 'The camera knows no stream at this URL (404): check the path, it differs from maker to maker.'],
  [453, 'The camera has no bandwidth left (453): close other viewers or choose a smaller stream.'],
  [454, 'The camera dropped the session (454).'],
  [461, 'The camera refuses to send its stream over the TCP connection (461): allow RTSP over TCP in the camera.'],
  [503, 'The camera is busy (503): close other viewers, it may allow only a few at a time.'],
])
