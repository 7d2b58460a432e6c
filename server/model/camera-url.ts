// The URL of a camera as its owner types it. User name and password are split off and stored separately from then
// on.

import { AppError } from '../base/error.ts'

const maxCameraUrlLength = 2048

/** The schemes that ingest supports. */
const schemes = ['rtsp:', 'rtsps:', 'http:', 'https:']

export type CameraUrl = {
  /** Without user information. */
  readonly url: string
  readonly username: string | null
  readonly password: string | null
}

/**
 * Throws 'invalid' with `fields.url`. The network address is checked when connecting, see ingest's address guard.
 */
export function parseCameraUrl(text: string): CameraUrl {
  const trimmed = text.trim()
  if (trimmed.length > maxCameraUrlLength) throw invalidUrl(`at most ${maxCameraUrlLength} characters are allowed`)
  if (/\p{Cc}/u.test(trimmed)) throw invalidUrl('it contains a control character')
  if (/\s/.test(trimmed)) throw invalidUrl('it contains a space (write it as %20)')
  let url: URL
  try {
    url = new URL(trimmed)
  } catch (cause) {
    throw invalidUrl(
      'it is not like rtsp://192.168.1.20/stream1 (write # / ? @ in a password as %23 %2F %3F %40)',
      cause,
    )
  }
  if (!schemes.includes(url.protocol)) throw invalidUrl('it must begin with rtsp://, rtsps://, http:// or https://')
  if (url.hostname === '') throw invalidUrl('it names no host')
  if (!isHost(url.hostname)) throw invalidUrl('its host name contains a character that no host name has')
  if (url.port === '0') throw invalidUrl('there is no port 0')
  if (trimmed.includes('#')) throw invalidUrl('it contains a # (in a path or a password write it as %23)')
  if (trimmed.includes(`=${hidden}`)) throw invalidUrl(`in the place of ${hidden} its password has to be written`)
  const username = decode(url.username)
  const password = decode(url.password)
  if (/\p{Cc}/u.test(username + password)) throw invalidUrl('the user name or password contains a control character')
  url.username = ''
  url.password = ''
  url.pathname = encodeForbidden(url.pathname)
  // An empty query is kept too.
  if (url.search !== '') url.search = encodeForbidden(url.search)
  const hasCredentials = username !== '' || password !== ''
  return { url: url.href, username: hasCredentials ? username : null, password: hasCredentials ? password : null }
}

export type ProbeUrl = CameraUrl & {
  /** Only a host was typed, with or without a port, so nobody knows yet where its stream is. */
  readonly isHostAlone: boolean
}

/**
 * The URL of a camera that is to be tested. Without a scheme it is one of RTSP. Throws 'invalid' with `fields.url`.
 */
export function parseProbeUrl(text: string): ProbeUrl {
  const trimmed = text.trim()
  // A colon without slashes is in front of a port, or of the password of a login.
  const hasScheme = /^[a-z][a-z\d+.-]*:(?:\/\/|(?!\d)(?!.*@))/i.test(trimmed)
  const parsed = parseCameraUrl(hasScheme ? trimmed : `rtsp://${trimmed}`)
  const { pathname, search } = new URL(parsed.url)
  const isHostAlone = !hasScheme && pathname.length <= 1 && search === ''
  // It is asked by HTTP too, whose hosts are checked more strictly.
  if (isHostAlone) parseCameraUrl(`http://${trimmed}`)
  return { ...parsed, isHostAlone }
}

const usualPorts: Readonly<Record<string, string>> = { 'rtsp:': '554', 'rtsps:': '322', 'http:': '80', 'https:': '443' }

/** True if both URLs have the same scheme, host and port, so that credentials for one may be used for the other. */
export function isSameOrigin(a: string, b: string): boolean {
  const [one, other] = [new URL(a), new URL(b)]
  const portOf = ({ port, protocol }: URL) => port || usualPorts[protocol]
  return (
    one.protocol === other.protocol &&
    one.hostname.toLowerCase() === other.hostname.toLowerCase() &&
    portOf(one) === portOf(other)
  )
}

const hidden = '***'

/**
 * The URL as it may be shown, or a text with URLs. Some cameras take their password in the path or query, as
 * `password=…`. `hide` returns what is shown in place of such a value.
 */
export function hideSecrets(text: string, hide: (secret: string) => string = () => hidden): string {
  return text.replace(
    /([/?&;_](?:pass|passwd|password|pwd|pw|token|key)=)((?:(?![&;]|_[a-z\d]+=)\S)+)/gi,
    (_, name: string, secret: string) => name + hide(secret),
  )
}

/** The probable type of a camera until it is connected; over HTTP it is MJPEG. */
export function guessCameraType(url: string): 'h264' | 'mjpeg' {
  return /^https?:/i.test(url) ? 'mjpeg' : 'h264'
}

/**
 * A name, an IPv4 address, or an IPv6 address in brackets. The URL parser also accepts braces, quotes and similar
 * characters.
 */
function isHost(hostname: string): boolean {
  return /^(?:\[[\da-f:.]+\]|[\p{L}\p{M}\p{N}._~%-]+)$/iu.test(hostname)
}

/** The URL parser keeps characters that no URI may contain (RFC 3986), especially in the query. */
function encodeForbidden(text: string): string {
  return text.replace(/["<>[\\\]^`{|}]|%(?![\da-f]{2})/gi, encodeURIComponent)
}

/**
 * Passwords are pasted as they are, and the URL parser encodes some characters but not the %. So a % without two
 * hexadecimal digits is a character of the password, and so are bytes that are not UTF-8.
 */
function decode(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded.replace(/%[0-7][\da-f]/gi, decodeURIComponent)
    }
  })
}

function invalidUrl(reason: string, cause?: unknown): AppError {
  const message = `The camera URL cannot be used: ${reason}.`
  return new AppError('invalid', message, { fields: { url: [message] }, ...(cause !== undefined && { cause }) })
}
