// Rejects forms that another site sends with this browser's cookies. In addition, every form contains a token.

import type { IncomingHttpHeaders } from 'node:http'
import { HttpError } from '../problem.ts'

/**
 * Throws HttpError 403 unless the browser reports that a page of this server sent the request: with Sec-Fetch-Site
 * (Fetch Metadata) or, in older browsers, with Origin. A request without either does not come from a browser that signs
 * in.
 */
export function checkSameSite(headers: IncomingHttpHeaders, ownOrigin: string): void {
  const site = headers['sec-fetch-site']
  const isOurs = site === undefined ? headers.origin === ownOrigin : site === 'same-origin' || site === 'none'
  if (!isOurs) throw new HttpError(403, 'cross_site_request', 'This form was not sent from a page of this server.')
}
