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
 * The URL as it may be shown to whoever looks at the screen. A password may contain any character, so everything up to
 * the last `@` is left out. Some cameras take it in the path or query.
 */
export function withoutPassword(url: string): string {
  const named = /([/?&;_](?:pass|passwd|password|pwd|pw|token|key)=)[^&;\s]+/gi
  return url.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, '$1').replace(named, '$1***')
}
