// The camera URL in a request body, with its login.

import { parseCameraUrl } from '../model/camera-url.ts'

export type CameraSource = {
  /** Without user information. */
  readonly url: string
  readonly username: string | null
  readonly password: string | null
  /** See `ProbeUrl`. */
  readonly isHostAlone?: boolean
}

type Source = {
  readonly url: string
  readonly username?: string | null | undefined
  readonly password?: string | null | undefined
}

/** User information in the URL is used unless the body has its own fields. Throws 'invalid' naming `url`. */
export function readSource(
  { url, username, password }: Source,
  parseUrl: (text: string) => CameraSource = parseCameraUrl,
): CameraSource {
  const parsed = parseUrl(url)
  return {
    ...parsed,
    username: username === undefined ? parsed.username : username,
    password: password === undefined ? parsed.password : password,
  }
}
