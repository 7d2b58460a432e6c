// Buttons for identity providers. They are links that are sealed for this browser, so that other sites cannot trigger
// them.

import type { Browser, NamedProvider, Start } from '../../../auth/providers/provider-service.ts'
import type { PagesDeps } from '../deps.ts'
import { type Html, html } from '../html.ts'
import type { PageCall } from '../page.ts'
import { signInWithPath } from '../paths.ts'

/** The page that redirects the browser to the provider. */
export const startPath = (providerId: string): string => `${signInWithPath}${providerId}/`

/** Returns undefined if there are no providers. */
export function drawProviderButtons(
  call: PageCall,
  service: Pick<PagesDeps['providers'], 'providers' | 'sealStart'>,
  start: Start,
  providers: readonly NamedProvider[] = service.providers,
): Html | undefined {
  if (providers.length === 0) return undefined
  const { signInWith, link } = call.texts.providers
  const label = start.purpose === 'link' ? link : signInWith
  const sealed = service.sealStart(call.visit.owner, start)
  return html`<div class="others">${providers.map(
    ({ id, name }) =>
      html`<a class="button button-quiet" href="${startPath(id)}?start=${sealed}" rel="nofollow">${label(name)}</a>`,
  )}</div>`
}

/** The browser, as the provider service identifies it. */
export function browserOf({ visit, cookieHeader, session, context }: PageCall): Browser {
  return { owner: visit.owner, owners: visit.owners, cookieHeader, session, context }
}
