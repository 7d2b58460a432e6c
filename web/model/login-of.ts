// A login that was typed for one device goes along to another address of that device, and nowhere else: the address of a stream is what
// the device says, and one that means harm names another host, to which the password would be sent.

type Typed = { readonly username: string; readonly password: string }

const none: Typed = { username: '', password: '' }

/** `typed` where both addresses are of the same host, else an empty login. */
export function loginAt(to: string, typedFor: string, { username, password }: Typed): Typed {
  const hostOf = (url: string) => URL.parse(url.includes('://') ? url : `http://${url}`)?.hostname.toLowerCase()
  const host = hostOf(to)
  return host !== undefined && host === hostOf(typedFor) ? { username, password } : none
}
