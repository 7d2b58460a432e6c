// Refuses forms that another site's page sends with this browser's cookies. Beside it every form carries a token of its own.

import type { IncomingHttpHeaders } from 'node:http'
import { HttpError } from '../problem.ts'

/**
 * Throws HttpError 403 unless the browser says that a page of ours sent it: by Sec-Fetch-Site (Fetch Metadata), or where a browser
 * does not know that, by Origin. A request with neither does not come from a browser that somebody signs in with.
 */
export function checkSameSite(headers: IncomingHttpHeaders, ownOrigin: string): void {
  const site = headers['sec-fetch-site']
  const isOurs = site === undefined ? headers.origin === ownOrigin : site === 'same-origin' || site === 'none'
  if (!isOurs) throw new HttpError(403, 'cross_site_request', 'This form was not sent from a page of this server.')
}
