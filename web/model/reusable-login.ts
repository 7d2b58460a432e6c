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
