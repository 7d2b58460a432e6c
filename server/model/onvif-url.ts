// The address of a camera's ONVIF device service, as people type it: often just a host.

import { AppError } from '../base/error.ts'
import { type CameraUrl, parseCameraUrl } from './camera-url.ts'

/** Where the device service of every camera is. */
const devicePath = '/onvif/device_service'

/** Throws 'invalid' with `fields.url`. */
export function parseOnvifUrl(text: string): CameraUrl {
  const trimmed = text.trim()
  const isHostAlone = !/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)
  const parsed = parseCameraUrl(isHostAlone ? `http://${trimmed}` : trimmed)
  const url = new URL(parsed.url)
  if (!/^https?:$/.test(url.protocol)) {
    const message = 'The address of an ONVIF device begins with http:// or https://.'
    throw new AppError('invalid', message, { fields: { url: [message] } })
  }
  if (url.pathname === '/' && url.search === '') url.pathname = devicePath
  return { ...parsed, url: url.href }
}
