// Fails when a file imports from its own floor's other folders, or from a floor above.
// The floors are explained in ARCHITECTURE.md; this table is their only definition.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** From the ground up. A folder may import folders on lower floors, and itself. */
export const floors: readonly (readonly string[])[] = [
  ['contract', 'server/base'],
  ['server/media', 'server/model'],
  ['server/hub', 'server/archive', 'server/store'],
  [
    'server/ingest',
    'server/live',
    'server/recorder',
    'server/playback',
    'server/auth',
    'server/mail',
    'server/decoder',
  ],
  ['server/cameras'],
  ['server/api'],
  ['server'], // main, app, worker, config, commands/
]

/** Beside the server stand its clients; what each may import besides itself. */
const clients: Readonly<Record<string, readonly string[]>> = { sdk: ['contract'], web: ['sdk'], examples: [] }

/** Runs in browsers too: neither Node modules nor packages. */
const portable = ['sdk']

/** Bytes in, values out: no Node modules, no packages, no clock, no randomness. */
const pure = ['server/media', 'server/model']
const impure = /\b(Date\.now|new Date\(\)|Math\.random|process\.|setTimeout|setInterval|console\.|fetch)\b/

/** Static imports and re-exports, one or many lines; the specifier is group 1. */
const importedFrom = /^\s*(?:import|export)\s(?:[^'"=]*?\bfrom\s*)?['"]([^'"]+)['"]/gm

export function findViolations(files: Iterable<{ path: string; text: string }>): string[] {
  const violations: string[] = []
  for (const { path, text } of files) {
    if (path.endsWith('.test.ts')) continue
    const from = folderOf(path)
    if (from === undefined) {
      violations.push(`${path}: on no floor`)
      continue
    }
    for (const [, specifier] of text.matchAll(importedFrom)) {
      if (!specifier!.startsWith('.')) {
        if (pure.includes(from.folder)) violations.push(`${path}: pure code imports ${specifier}`)
        if (portable.includes(from.folder)) violations.push(`${path}: portable code imports ${specifier}`)
        continue
      }
      const to = folderOf(join(dirname(path), specifier!))
      if (!to || !mayImport(from, to)) violations.push(`${path}: may not import ${specifier}`)
    }
    if (pure.includes(from.folder)) {
      const found = impure.exec(text.replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, ''))
      if (found) violations.push(`${path}: pure code uses ${found[0]}`)
    }
  }
  return violations
}

/** Clients have no floor. */
type Folder = { readonly folder: string; readonly floor: number | undefined }

function mayImport(from: Folder, to: Folder): boolean {
  if (to.folder === from.folder) return true
  if (from.floor === undefined) return clients[from.folder]!.includes(to.folder)
  return to.floor !== undefined && to.floor < from.floor
}

function folderOf(path: string): Folder | undefined {
  const client = Object.keys(clients).find((folder) => path.startsWith(`${folder}/`))
  if (client !== undefined) return { folder: client, floor: undefined }
  let best: Folder | undefined
  for (const [floor, folders] of floors.entries()) {
    for (const folder of folders) {
      const isLonger = best === undefined || folder.length > best.folder.length
      if (path.startsWith(`${folder}/`) && isLonger) best = { folder, floor }
    }
  }
  return best
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = globSync('{contract,server,sdk,web,examples}/**/*.{ts,tsx,js}', {
    exclude: ['**/node_modules/**', '**/dist/**'],
  })
  const violations = findViolations(paths.map((path) => ({ path, text: readFileSync(path, 'utf8') })))
  for (const violation of violations) console.error(violation)
  process.exitCode = violations.length === 0 ? 0 : 1
}
