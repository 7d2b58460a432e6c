// Addresses of the pages that people reach by a link: from a mail, or from the console at the first start.

export const pagePaths = {
  /** Takes the set-up code, in `code`. */
  setUp: '/set-up/',
  /** The others take the token of a one-time link, in `token`. */
  invitation: '/invitation/',
  reset: '/reset/',
  email: '/email/',
} as const

/** `publicUrl`: the configured origin, never what a request claims. */
export function writeSetUpLink(publicUrl: string, code: string): string {
  return `${publicUrl}${pagePaths.setUp}?code=${encodeURIComponent(code)}`
}

export function writeTokenLink(publicUrl: string, page: 'invitation' | 'reset' | 'email', token: string): string {
  return `${publicUrl}${pagePaths[page]}?token=${encodeURIComponent(token)}`
}
