// The API documentation: /openapi.json as a page, with the URL of this server in the examples.

import { createDescription } from '../../description/description.ts'
import { createReference, type ReferencePart } from '../../description/reference.ts'
import { Slugs } from '../../description/slugs.ts'
import { type Html, html } from '../html.ts'
import { drawInline, drawMarkdown } from '../markdown.ts'
import type { Page, ShownPage } from '../page.ts'
import { docsPath } from '../paths.ts'
import type { Texts } from '../texts/texts.ts'

export function createDocsPage(publicUrl: string): Page {
  // The content has a few hundred kilobytes and is the same for everyone, so it is rendered once, on the first request.
  let manual: Manual | undefined
  const pages = new Map<Texts, ShownPage>()
  return {
    path: docsPath,
    audience: 'anyone',
    async get({ texts }) {
      let page = pages.get(texts)
      if (!page) {
        manual ??= drawManual(createReference(createDescription(publicUrl)))
        const content = drawDocs(manual, texts)
        page = { kind: 'page', title: texts.docs.title, content, isShared: true, isWide: true }
        pages.set(texts, page)
      }
      return page
    },
  }
}

type Entry = { readonly heading: string; readonly slug: string }
type Part = Entry & { readonly text: string; readonly items: readonly (Entry & { readonly text: string })[] }

type Manual = { readonly contents: Html; readonly chapters: Html }

function drawDocs({ contents, chapters }: Manual, { docs }: Texts): Html {
  return html`<p class="lead">${docs.lead} <a href="/openapi.json">/openapi.json</a></p>
<div class="manual">
<nav class="contents" aria-label="${docs.contents}">${contents}</nav>
<div class="chapters" lang="en">${chapters}</div>
</div>`
}

function drawManual(reference: readonly ReferencePart[]): Manual {
  const parts = addSlugs(reference)
  const [chapters, rest] = [
    parts.filter(({ items }) => items.length === 0),
    parts.filter(({ items }) => items.length > 0),
  ]
  return {
    contents: html`<ul lang="en">${chapters.map((part) => html`<li>${drawLink(part)}</li>`)}</ul>
${rest.map(drawContents)}`,
    chapters: html`${parts.map(drawPart)}`,
  }
}

function addSlugs(reference: readonly ReferencePart[]): Part[] {
  const slugs = new Slugs()
  const add = <T extends { heading: string }>(part: T) => ({ ...part, slug: slugs.next(part.heading) })
  return reference.map((part) => ({ ...add(part), items: part.items.map(add) }))
}

const drawLink = ({ heading, slug }: Entry): Html => html`<a href="#${slug}">${drawInline(heading)}</a>`

function drawContents(part: Part): Html {
  return html`<details lang="en"><summary>${part.heading}</summary>
<ul>${part.items.map((item) => html`<li>${drawLink(item)}</li>`)}</ul></details>`
}

function drawPart({ heading, slug, text, items }: Part): Html {
  return html`<section><h2 id="${slug}">${heading}</h2>
${drawMarkdown(text)}
${items.map(
  (item) => html`<section><h3 id="${item.slug}">${drawInline(item.heading)}</h3>
${drawMarkdown(item.text)}</section>`,
)}</section>
`
}
