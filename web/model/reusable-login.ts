// Decides whether a login that was typed for one URL may be used for another. A camera reports its own stream URLs, and
// a malicious one could name another host to obtain the password. The login is therefore reused only for the same host.

type Typed = { readonly username: string; readonly password: string }

const none: Typed = { username: '', password: '' }

/** Returns `typed` if both URLs have the same host, otherwise an empty login. */
export function findReusableLogin(to: string, typedFor: string, { username, password }: Typed): Typed {
  const hostOf = (url: string) => URL.parse(url.includes('://') ? url : `http://${url}`)?.hostname.toLowerCase()
  const host = hostOf(to)
  return host !== undefined && host === hostOf(typedFor) ? { username, password } : none
}

/**
 * The URL by which a tested camera is added. Without a scheme it is one of RTSP, and where only a host was typed it is
 * the one that was found there. A login in front of the host stays where it is.
 */
export function findUrlToAdd(typed: string, found: string): string {
  const text = typed.trim()
  if (text.includes('://')) return text
  const login = text.slice(0, text.lastIndexOf('@') + 1)
  return /[/?]/.test(text.slice(login.length)) ? `rtsp://${text}` : found.replace('://', `://${login}`)
}

/**
 * The URL as it may be shown to whoever looks at the screen. A password may contain any character, so everything up to
 * the last `@` is left out. Some cameras take it in the path or query.
 */
export function withoutPassword(url: string): string {
  const named = /([/?&;_](?:pass|passwd|password|pwd|pw|token|key)=)[^&;\s]+/gi
  return url.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, '$1').replace(named, '$1***')
}
