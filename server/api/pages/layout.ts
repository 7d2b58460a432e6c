// The document around the content of a page: head, header and footer.

import { html } from './html.ts'
import { drawMark } from './mark.ts'
import type { ShownPage } from './page.ts'
import type { PageAssets } from './page-assets.ts'
import type { Texts } from './texts/texts.ts'

export type DocumentOptions = { readonly page: ShownPage; readonly assets: PageAssets; readonly texts: Texts }

export function writeDocument({ page, assets, texts }: DocumentOptions): string {
  const isRefused = (page.status ?? 200) >= 400
  return String(html`<!doctype html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<title>${isRefused && `${texts.errorPrefix} `}${page.title} – ${texts.productName}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#2a3058" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#090c17" media="(prefers-color-scheme: dark)">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">${
    page.script &&
    html`
<script src="${assets.scripts[page.script]}" defer></script>`
  }
</head>
<body>
<header class="sky"><a class="wordmark" href="/">${drawMark()}<span>${texts.productName}</span></a></header>
<main class="card${page.isWide && ' card-wide'}">
<h1>${page.title}</h1>
${page.content}
</main>
<footer class="foot"><p>${texts.tagline}</p></footer>
</body>
</html>
`)
}
