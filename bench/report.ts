// What a bench has found: a table for people, an object for programs, and targets met or missed.

import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, release, type } from 'node:os'

export type Target = {
  /** Of the value in the report's JSON object. */
  readonly key: string
  readonly title: string
  readonly value: number
  readonly limit: number
  readonly kind: 'at most' | 'at least'
}

export type Table = { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }

export type Report = {
  /** Also the name of the file in bench/results. */
  readonly name: string
  readonly title: string
  /** Paragraphs above the table: what was done. */
  readonly setting: readonly string[]
  readonly tables: readonly Table[]
  readonly targets: readonly Target[]
  /** Paragraphs below. */
  readonly notes: readonly string[]
  /** Further members of the JSON object, beside the targets' keys. */
  readonly details: Record<string, unknown>
}

export function isMet({ value, limit, kind }: Target): boolean {
  return kind === 'at most' ? value <= limit : value >= limit
}

/** Prints the report and keeps its Markdown. Returns the exit code: 1 when a target is missed. */
export async function publish(report: Report, { isJson }: { readonly isJson: boolean }): Promise<number> {
  const markdown = writeMarkdown(report)
  const folder = new URL('results/', import.meta.url)
  await mkdir(folder, { recursive: true })
  await writeFile(new URL(`${report.name}.md`, folder), markdown)
  const missed = report.targets.filter((target) => !isMet(target))
  if (isJson) console.log(writeJson(report, missed))
  else console.log(markdown)
  for (const { title, key, value, limit, kind } of missed) {
    console.error(`Target missed: ${title} (${key}) is ${writeNumber(value)}, expected ${kind} ${limit}.`)
  }
  return missed.length === 0 ? 0 : 1
}

function writeMarkdown({ title, setting, tables, targets, notes }: Report): string {
  const verdicts: Table = {
    head: ['target', 'measured', 'expected', ''],
    rows: targets.map((target) => [
      target.title,
      writeNumber(target.value),
      `${target.kind} ${target.limit}`,
      isMet(target) ? 'met' : '**missed**',
    ]),
  }
  const parts = [`# ${title}`, ...setting, ...[...tables, verdicts].map(writeTable), ...notes]
  return `${parts.join('\n\n')}\n`
}

function writeJson({ targets, details }: Report, missed: readonly Target[]): string {
  const values = Object.fromEntries(targets.map(({ key, value }) => [key, Number(value.toFixed(4))]))
  return JSON.stringify({ ...values, targetsMissed: missed.map(({ key }) => key), ...details })
}

/** The first column is text, the others are numbers. */
function writeTable({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

/** Three significant digits, counts whole. */
export function writeNumber(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}

/** What the figures depend on, for people who compare them. */
export function describeMachine(): string {
  const cores = cpus()
  const model = cores[0]?.model.replaceAll(/\((R|TM)\)/g, '') ?? 'unknown processor'
  return `${cores.length} × ${model}, ${type()} ${release().split('-')[0]}, Node ${process.versions.node}`
}
