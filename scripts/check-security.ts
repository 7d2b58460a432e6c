// Fails if the table of docs/design/security.md lacks one of the checks T1 to T45, or names a test (by file and title)
// that does not exist.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = 'docs/design/security.md'
const lastCheck = 45
const states = ['holds', 'in part', 'missing'] as const

/** A row `| T1 | check | state | file: title |`. Rows for further tests of a check leave the first three cells empty. */
const row = /^\| *([TA]\d+)? *\|(.*)\| *([^|]*?) *\| *(?:`([^`]+)`: (.+?))? *\|$/

type Check = { readonly name: string; readonly state: string; readonly tests: { file: string; title: string }[] }

/** `readFile` returns undefined for a file that is not there. */
export function findSecurityFaults(text: string, readFile: (path: string) => string | undefined): string[] {
  const faults: string[] = []
  const checks = new Map<string, Check>()
  let last: Check | undefined
  for (const line of text.split('\n')) {
    const found = row.exec(line)
    if (!found) continue
    const [, name, , state, file, title] = found
    if (name !== undefined) {
      if (checks.has(name)) faults.push(`${name} stands there twice`)
      last = { name, state: state!, tests: [] }
      checks.set(name, last)
    }
    if (file !== undefined && last) last.tests.push({ file, title: title! })
  }
  for (let number = 1; number <= lastCheck; number++) {
    if (!checks.has(`T${number}`)) faults.push(`T${number} is left out`)
  }
  for (const { name, state, tests } of checks.values()) {
    const kind = states.find((each) => state.startsWith(each))
    if (kind === undefined) faults.push(`${name}: the state is one of ${states.join(', ')}`)
    if ((kind === 'missing') !== (tests.length === 0)) faults.push(`${name}: ${state}, with ${tests.length} tests`)
    for (const { file, title } of tests) {
      const source = readFile(file)
      if (source === undefined) faults.push(`${name}: there is no ${file}`)
      else if (!listTitles(source).has(title)) faults.push(`${name}: ${file} has no test "${title}"`)
    }
  }
  return faults
}

/** Returns the titles of the tests in a file, as they are written in its source. */
function listTitles(source: string): Set<string> {
  const calls = source.matchAll(/\btest(?:EachDatabase)?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g)
  return new Set([...calls].map(([, , title]) => title!))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const readFile = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
  const faults = findSecurityFaults(readFileSync(page, 'utf8'), readFile)
  for (const fault of faults) console.error(`${page}: ${fault}`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
