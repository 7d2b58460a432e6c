// Renders the subset of Markdown in which the API description is written (description/introduction.ts): paragraphs,
// lists, tables, fenced code, `code`, **strong** and [links](…). Everything else is text, including HTML.

import { type Html, html } from './html.ts'

export function drawMarkdown(text: string): Html {
  return html`${splitBlocks(text).map(drawBlock)}`
}

/** Splits at empty lines outside of code fences. */
function splitBlocks(text: string): string[][] {
  const blocks: string[][] = [[]]
  let isFenced = false
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isFenced = !isFenced
    if (line === '' && !isFenced) blocks.push([])
    else blocks.at(-1)!.push(line)
  }
  return blocks.filter((lines) => lines.length > 0)
}

function drawBlock(lines: readonly string[]): Html {
  const first = lines[0]!
  if (first.startsWith('```')) return drawCode(first.slice(3), lines.slice(1, -1).join('\n'))
  if (first.startsWith('| ')) return drawTable(lines)
  if (first.startsWith('- '))
    return html`<ul class="list">${lines.map((line) => html`<li>${drawInline(line.slice(2))}</li>`)}</ul>\n`
  return html`<p>${drawInline(lines.join('\n'))}</p>\n`
}

/** Text after the language is a title. Code with a title is collapsed. */
function drawCode(info: string, code: string): Html {
  const title = info.split(' ').slice(1).join(' ')
  const block = html`<pre class="code"><code>${code}</code></pre>\n`
  return title === '' ? block : html`<details class="more"><summary>${title}</summary>${block}</details>\n`
}

function drawTable([head, , ...rows]: readonly string[]): Html {
  const titles = cellsOf(head!)
  return html`<table class="table"><thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cellsOf(row).map((cell) => html`<td>${drawInline(cell)}</td>`)}</tr>\n`)}</tbody></table>\n`
}

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'))
}

const inline = /`(?<code>[^`]+)`|\*\*(?<strong>[^*]+)\*\*|\[(?<words>[^\]]+)\]\((?<target>(?:#|\/|https:)[^)\s]*)\)/g

/** Renders text that may stand in a heading or a table cell. */
export function drawInline(text: string): Html {
  const parts: (Html | string)[] = []
  let end = 0
  for (const match of text.matchAll(inline)) {
    const { code, strong, words, target } = match.groups!
    parts.push(text.slice(end, match.index))
    if (code !== undefined) parts.push(html`<code>${code}</code>`)
    else if (strong !== undefined) parts.push(html`<strong>${strong}</strong>`)
    else parts.push(html`<a href="${target}">${words}</a>`)
    end = match.index + match[0].length
  }
  return html`${parts}${text.slice(end)}`
}
