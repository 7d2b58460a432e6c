// Parses the URL of a camera: where to connect and what to request. The URLs of its tracks are in control-url.ts.

import { AppError } from '../../base/error.ts'

export type CameraUrl = {
  readonly protocol: 'rtsp' | 'http'
  /** A name or an IP address; IPv6 in brackets. */
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** The URL as sent in requests, without user information. */
  readonly requestUrl: string
}

const schemes: ReadonlyMap<string, Pick<CameraUrl, 'protocol' | 'port' | 'isTls'>> = new Map([
  ['rtsp:', { protocol: 'rtsp', port: 554, isTls: false }],
  ['rtsps:', { protocol: 'rtsp', port: 322, isTls: true }],
  ['http:', { protocol: 'http', port: 80, isTls: false }],
  ['https:', { protocol: 'http', port: 443, isTls: true }],
])

/** @throws AppError 'invalid' */
export function parseCameraUrl(text: string): CameraUrl {
  const url = URL.parse(text)
  const scheme = url && schemes.get(url.protocol)
  if (!scheme || url.hostname === '') {
    throw new AppError('invalid', 'a camera URL looks like rtsp://192.168.1.64:554/path or http://192.168.1.64/path')
  }
  url.username = ''
  url.password = ''
  url.hash = ''
  const port = url.port === '' ? scheme.port : Number(url.port)
  return { ...scheme, host: url.hostname, port, requestUrl: url.href }
}
