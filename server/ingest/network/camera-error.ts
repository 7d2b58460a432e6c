// Why a camera delivers no frames: the reason for programs, and a message for the owner that says what to try.

import type { ProblemCode } from '../../../contract/camera-problem.ts'
import type { GapReason } from '../../../contract/gap-reasons.ts'
import { AppError, type ErrorKind } from '../../base/error.ts'
import type { CameraUrl } from './camera-url.ts'

type CameraErrorOptions = {
  readonly cause?: unknown
  readonly kind?: ErrorKind
  readonly status?: number
  readonly isUnreachable?: boolean
  /** Default: derived from the status and the reason. */
  readonly problem?: ProblemCode
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const controlCharacters = /[\0-\x1f\x7f]/g

export class CameraError extends AppError {
  readonly reason: GapReason
  /** The exact problem, which is more specific than the reason stored with a recording. */
  readonly problem: ProblemCode
  /** The status of the camera's response, if that response is the error. */
  readonly status: number | undefined
  /** No connection could be opened, so other streams of the same host and port cannot be reached either. */
  readonly isUnreachable: boolean

  /** `detail` is one readable sentence without secrets and without the user information of a URL. */
  constructor(reason: GapReason, detail: string, options: CameraErrorOptions = {}) {
    // Of names that the camera gives; PostgreSQL stores no text with a NUL.
    super(
      options.kind ?? 'unavailable',
      detail.replaceAll(controlCharacters, '?'),
      'cause' in options ? { cause: options.cause } : {},
    )
    this.reason = reason
    this.status = options.status
    this.isUnreachable = options.isUnreachable ?? false
    this.problem = options.problem ?? problemsByStatus.get(options.status ?? 0) ?? defaultProblem(reason)
  }
}

function defaultProblem(reason: GapReason): ProblemCode {
  if (reason === 'auth_failed') return 'login_refused'
  return reason === 'no_frames' ? 'no_frames' : 'failed'
}

/** What statuses other than 401 say about the camera. */
const problemsByStatus: ReadonlyMap<number, ProblemCode> = new Map([
  [400, 'no_such_stream'],
  [403, 'not_allowed'],
  [404, 'no_such_stream'],
  [410, 'no_such_stream'],
  [451, 'no_such_stream'],
  [453, 'busy'],
  [461, 'unsupported'],
  [503, 'busy'],
])

/**
 * Returns the error that replaces `cause` for users who may not see it. It is the same whether nothing responds, the
 * connection is refused, or something other than a camera responds. Otherwise, anyone who may add cameras could scan
 * the networks behind the server.
 */
export function createHiddenError(cause?: unknown): CameraError {
  const detail =
    'No frames arrive from this URL: check the host, port, path, username and password. In a private network, only owners of the server see the exact problem.'
  return new CameraError('camera_unreachable', detail, { cause, problem: 'not_told' })
}

/** Whether the error concerns only the name and the IP address: no connection was attempted. */
export function isAboutAddress({ problem }: CameraError): boolean {
  return problem === 'address_refused' || problem === 'unknown_host'
}

/** Converts anything a session throws to the error that the owner sees. */
export function toCameraError(error: unknown): CameraError {
  if (error instanceof CameraError) return error
  if (error instanceof AppError && error.kind === 'corrupt') {
    // The response is not quoted, because the user who chose the host could then read it.
    const detail = 'The camera answered with something other than RTSP: check the port of the URL.'
    return new CameraError('no_frames', detail, { cause: error, kind: 'corrupt', problem: 'not_a_camera' })
  }
  if (error instanceof AppError) {
    const message = error.message.charAt(0).toUpperCase() + error.message.slice(1).replace(/\.$/, '')
    // The message stays the same. Only the cause is passed on.
    return new CameraError('camera_unreachable', `${message}.`, {
      cause: error.cause,
      kind: error.kind,
      problem: problemsByKind[error.kind] ?? 'failed',
    })
  }
  return new CameraError('camera_unreachable', 'The connection to the camera failed unexpectedly.', {
    cause: error,
    kind: 'internal',
  })
}

/** The errors of the address guard. */
const problemsByKind: { readonly [kind in ErrorKind]?: ProblemCode } = {
  invalid: 'address_refused',
  unavailable: 'unknown_host',
}

type Hint = { readonly text: string; readonly isUnreachable: boolean }

const socketHints: ReadonlyMap<string, Hint> = new Map([
  ['ECONNREFUSED', { text: 'refused the connection: check the port', isUnreachable: true }],
  [
    'EHOSTUNREACH',
    { text: 'cannot be reached: check that it is switched on and that its IP address is right', isUnreachable: true },
  ],
  ['ENETUNREACH', { text: 'is in a network that this server cannot reach: check the IP address', isUnreachable: true }],
  [
    'ETIMEDOUT',
    { text: 'did not answer: check that it is switched on and that its IP address is right', isUnreachable: true },
  ],
  ['ECONNRESET', { text: 'closed the connection', isUnreachable: false }],
  ['EPIPE', { text: 'closed the connection', isUnreachable: false }],
])

/** Describes a failed or lost connection to the camera of this URL. */
export function describeSocketError(error: Error, { protocol, host, port, isTls }: CameraUrl): CameraError {
  const code = 'code' in error ? String(error.code) : ''
  const name = `The camera at ${host}:${port}`
  const hint = socketHints.get(code)
  if (hint) {
    const usualPort = protocol === 'rtsp' ? ' (often 554), and enable RTSP in the camera' : ' (often 80)'
    const text = code === 'ECONNREFUSED' ? hint.text + usualPort : hint.text
    return new CameraError('camera_unreachable', `${name} ${text}.`, {
      cause: error,
      isUnreachable: hint.isUnreachable,
      problem: code === 'ETIMEDOUT' ? 'timed_out' : hint.isUnreachable ? 'unreachable' : 'failed',
    })
  }
  if (isTls && (code.startsWith('ERR_SSL') || code === 'EPROTO')) {
    const detail = `${name} does not support a TLS version that this server supports: try ${protocol}:// instead of ${protocol}s://, or another port.`
    return new CameraError('camera_unreachable', detail, { cause: error, problem: 'tls_failed' })
  }
  return new CameraError(
    'camera_unreachable',
    `The connection to ${name.replace('T', 't')} failed (${code || 'unknown'}).`,
    {
      cause: error,
    },
  )
}

/** Describes an RTSP or HTTP response other than 2xx. */
export function describeStatus(status: number, method: string, hasCredentials: boolean): CameraError {
  if (status === 401) {
    // Dahua cameras respond with 401 when they have too many connections, and cameras lock an account or IP address
    // after a few wrong passwords.
    const detail = hasCredentials
      ? 'The camera refused the username or password (401): check both. Some cameras have separate accounts for video streams. Some also answer 401 when they have too many viewers or when the account is locked.'
      : 'The camera requires a username and password (401): add them to this camera.'
    const problem = hasCredentials ? 'login_refused' : 'login_needed'
    return new CameraError('auth_failed', detail, { kind: 'unauthenticated', status, problem })
  }
  if (status === 403) {
    const detail =
      'The camera does not allow this user to watch the stream (403): give the account the permission to view video.'
    return new CameraError('auth_failed', detail, { kind: 'forbidden', status })
  }
  if (status >= 300 && status < 400) return describeRedirect(`${status}`)
  const detail = statusHints.get(status) ?? `The camera answered ${method} with the error ${status}.`
  return new CameraError('no_frames', detail, { status })
}

export function describeUnknownLogin(): CameraError {
  const detail =
    'The camera requires a kind of authentication that is not supported: set it to digest or basic in the camera.'
  return new CameraError('auth_failed', detail, { kind: 'unauthenticated', problem: 'unsupported' })
}

/** `how` is the status or the method of the redirect. */
export function describeRedirect(how: string): CameraError {
  const detail = `The camera redirects to another URL (${how}), which is not followed: enter the final URL.`
  return new CameraError('no_frames', detail, { problem: 'redirected' })
}

const statusHints: ReadonlyMap<number, string> = new Map([
  [400, 'The camera does not understand the request (400): check the path of the URL.'],
  [404, 'The camera has no stream at this URL (404): check the path, which depends on the manufacturer.'],
  [453, 'The camera has no bandwidth left (453): close other viewers or choose a smaller stream.'],
  [454, 'The camera ended the session (454). The server opens a new one.'],
  [461, 'The camera refuses to send its stream over this transport (461): enable RTSP over TCP in the camera.'],
  [503, 'The camera is busy (503): close other viewers, because it may allow only a few.'],
])
