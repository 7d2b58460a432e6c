// Fails when a file, also a style sheet, imports from its own floor's other folders or from a floor above, when files
// import each other in a cycle, and when a file in server/ serves only tests.
// The floors are explained in ARCHITECTURE.md; this table is their only definition.

import { fileURLToPath } from 'node:url'
import { findCycles, findReachable, findReferences, readSources } from './module-graph.ts'

/** From the ground up. A folder may import folders on lower floors, and itself. */
export const floors: readonly (readonly string[])[] = [
  ['contract', 'server/base'],
  ['server/media', 'server/model'],
  ['server/places'],
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

/** Imports that the floors forbid and that are right nevertheless. */
const exceptions: Readonly<Record<string, string>> = {
  // The dashboard looks like the server's own pages, from one definition of colors and sizes. Vite copies it at build.
  'web/app/theme.css': 'server/api/pages/look/',
}

/** Programs: what they do not reach serves only tests. */
const programs = [
  'server/commands/nightjar.ts',
  'server/config/write-reference.ts',
  'server/api/description/write-manual.ts',
]

/** Not imported, but read by name or by tests, for the reason given. */
const readByName: readonly RegExp[] = [
  /^server\/api\/pages\/look\//, // read at start by look.ts
  // Runs inside the isolation of decoder processes, which can read only the folders of the decoder's own programs.
  /^server\/decoder\/isolation\/test-attacks\.ts$/,
]

const isTest = (path: string) => /\.test\.tsx?$/.test(path)
const isChecked = (path: string) => /^(?:contract|server|sdk|web|examples)\//.test(path) && !isTest(path)

/** `sources`: the text of each file by its path. Files outside the floors, such as scripts, are not checked. */
export function findViolations(sources: ReadonlyMap<string, string>): string[] {
  const checked = new Map([...sources].filter(([path]) => isChecked(path)))
  return [
    ...[...checked].flatMap(([path, text]) => findForbidden(path, text)),
    ...findCycles(checked).map((cycle) => `import cycle: ${cycle.join(', ')}`),
    ...findTestSupport(checked, sources),
  ]
}

function findForbidden(path: string, text: string): string[] {
  const from = folderOf(path)
  if (from === undefined) return [`${path}: on no floor`]
  const violations: string[] = []
  for (const { specifier, target, kind } of findReferences(path, text)) {
    if (kind === 'program') continue
    if (target === undefined) {
      if (pure.includes(from.folder)) violations.push(`${path}: pure code imports ${specifier}`)
      if (portable.includes(from.folder)) violations.push(`${path}: portable code imports ${specifier}`)
      if (/^(?:node:)?assert\b/.test(specifier)) violations.push(`${path}: only tests import ${specifier}`)
      continue
    }
    const to = folderOf(target)
    const isException = path in exceptions && target.startsWith(exceptions[path]!)
    if (!isException && (!to || !mayImport(from, to))) violations.push(`${path}: may not import ${specifier}`)
  }
  if (pure.includes(from.folder)) {
    const found = impure.exec(text.replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, ''))
    if (found) violations.push(`${path}: pure code uses ${found[0]}`)
  }
  return violations
}

/** Files in server/ that a test or a bench uses, but no program, script or client. */
function findTestSupport(checked: ReadonlyMap<string, string>, sources: ReadonlyMap<string, string>): string[] {
  const others = [...sources.keys()].filter((path) => /^(?:scripts|sdk|web|examples)\//.test(path) && !isTest(path))
  const used = findReachable([...programs, ...others], sources, (path) => !path.startsWith('test/'))
  return [...checked.keys()]
    .filter((path) => path.startsWith('server/') && !used.has(path) && !readByName.some((name) => name.test(path)))
    .map((path) => `${path}: no program uses it; what only tests use belongs in test/support/`)
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
  const violations = findViolations(readSources())
  for (const violation of violations) console.error(violation)
  process.exitCode = violations.length === 0 ? 0 : 1
}
