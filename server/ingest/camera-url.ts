// The URL of a camera: what to connect to and what to ask for. And the URLs of its tracks, which the camera names relative to it.

import { AppError } from '../base/error.ts'

export type CameraUrl = {
  /** Name or address, IPv6 in brackets. */
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** As sent in requests: without user information. */
  readonly requestUrl: string
}

/** rtsp:// and rtsps://. @throws AppError 'invalid' */
export function parseCameraUrl(text: string): CameraUrl {
  const url = URL.parse(text)
  if (!url || !/^rtsps?:$/.test(url.protocol) || url.hostname === '') {
    throw new AppError('invalid', 'a camera URL looks like rtsp://192.168.1.64:554/path')
  }
  const isTls = url.protocol === 'rtsps:'
  const port = url.port === '' ? (isTls ? 322 : 554) : Number(url.port)
  url.username = ''
  url.password = ''
  url.hash = ''
  return { host: url.hostname, port, isTls, requestUrl: url.href }
}

/**
 * The URL of a track or session from its `a=control`. Joined as cameras expect, not as RFC 3986 says: their base often has a
 * query, behind which the track's name is appended.
 */
export function resolveControl(base: string, control: string | undefined): string {
  if (control === undefined || control === '' || control === '*') return base
  if (/^rtspu?s?:\/\//i.test(control)) return control
  if (control.startsWith('/')) return `${/^[a-z]+:\/\/[^/]*/i.exec(base)?.[0] ?? base}${control}`
  return base.endsWith('/') ? base + control : `${base}/${control}`
}
