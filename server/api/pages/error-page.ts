// Pages that say what went wrong, and what to do.

import type { Problem } from '../problem.ts'
import { html } from './html.ts'
import type { PageCall, ShownPage } from './page.ts'
import type { Texts } from './texts/texts.ts'

/** `detail`: what is known of the cause, in words for people. */
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

/** The form was shown before its user signed in anew, or out: nothing was done. */
export function createOutdatedPage({ texts, url }: PageCall): ShownPage {
  return {
    kind: 'page',
    status: 403,
    title: texts.errors.outdatedTitle,
    content: html`<p>${texts.errors.outdated}</p>
<p><a class="button" href="${url}">${texts.errors.again}</a></p>`,
  }
}
