// Pages that show an error and what to do about it.

import type { Problem } from '../problem.ts'
import { html } from './html.ts'
import type { PageCall, ShownPage } from './page.ts'
import type { Texts } from './texts/texts.ts'

/**
 * `detail` describes the cause in the language of the page. Without it, the page shows a general text for the status.
 */
export function createErrorPage(
  texts: Texts,
  { status, headers }: Pick<Problem, 'status' | 'headers'>,
  detail?: string,
): ShownPage {
  const { title, advice } = texts.errors.byStatus(status, Number(headers['retry-after'] ?? 0))
  return {
    kind: 'page',
    status,
    title,
    content: html`<p>${detail ?? advice}</p>
<p><a href="/">${texts.errors.home}</a></p>`,
  }
}

/** For a form that was loaded before the user signed in again or signed out. The form was not processed. */
export function createOutdatedPage({ texts, url }: PageCall): ShownPage {
  return {
    kind: 'page',
    status: 403,
    title: texts.errors.outdatedTitle,
    content: html`<p>${texts.errors.outdated}</p>
<p><a class="button" href="${url}">${texts.errors.again}</a></p>`,
  }
}
