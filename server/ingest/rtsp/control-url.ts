// Finds the URLs of a session and its tracks, which a camera gives in `Content-Base` and `a=control` (RFC 2326 C.1.1).
// Cameras and the RFC disagree on how the two are combined, so there are several candidates, the most common one first.

/**
 * Returns the URL that control URLs are relative to. Some cameras omit the scheme or the host, or send a single word.
 */
export function resolveBase(base: string | undefined, requestUrl: string): string {
  const value = base?.trim() ?? ''
  if (/^rtsps?:\/\/[^/]/i.test(value)) return value
  if (value.startsWith('/')) return originOf(requestUrl) + value
  const isHostFirst = /^(?:[\w-]+(?:\.[\w-]+)+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:\/|$)/i.test(value)
  return isHostFirst ? `${requestUrl.slice(0, requestUrl.indexOf('://'))}://${value}` : requestUrl
}

/**
 * Lists the possible URLs of a track or session without duplicates; at least one. The first appends the control to the
 * whole base including its query, as nearly all cameras expect. The others follow the RFC, or append to the path
 * without the query.
 */
export function listControlUrls(base: string, control: string | undefined): string[] {
  if (control === undefined || control === '' || control === '*') return [base]
  if (/^rtspu?s?:\/\//i.test(control)) return [control]
  const query = base.indexOf('?')
  const path = query < 0 ? base : base.slice(0, query)
  const candidates = control.startsWith('/')
    ? [originOf(base) + control, appendTo(base, control.slice(1))]
    : control.startsWith('?')
      ? [path + control, appendTo(base, control)]
      : [appendTo(base, control), appendTo(path, control) + (query < 0 ? '' : base.slice(query))]
  const standard = URL.parse(control, base)?.href
  return [...new Set(standard === undefined ? candidates : [...candidates, standard])]
}

function appendTo(base: string, control: string): string {
  return base.endsWith('/') ? base + control : `${base}/${control}`
}

function originOf(url: string): string {
  return /^[a-z]+:\/\/[^/?]*/i.exec(url)?.[0] ?? url
}
