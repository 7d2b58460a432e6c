// The address of a camera in the body of a request, with the login that goes with it.

import { parseCameraUrl } from '../model/camera-url.ts'

export type CameraSource = {
  /** Without user information. */
  readonly url: string
  readonly username: string | null
  readonly password: string | null
}

type Source = {
  readonly url: string
  readonly username?: string | null | undefined
  readonly password?: string | null | undefined
}

/** User information in the address counts where the body does not name its own. Throws 'invalid' naming `url`. */
export function readSource({ url, username, password }: Source, parseUrl = parseCameraUrl): CameraSource {
  const parsed = parseUrl(url)
  return {
    url: parsed.url,
    username: username === undefined ? parsed.username : username,
    password: password === undefined ? parsed.password : password,
  }
}
