// Builds the dashboard when what it is made of has changed since: web/dist, with each text compressed beside itself.
// Run before the server starts (scripts/run.js); a build takes about a second, finding that none is needed some milliseconds.

import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'web', 'dist')
const stampFile = join(dist, '.built-from')
/** What the bundle is made of; the lock file stands for the packages. */
const sources = ['web/**/*', 'sdk/**/*.ts', 'contract/**/*.ts', 'server/api/pages/look/*', 'package-lock.json']

export async function buildDashboard(): Promise<void> {
  const wanted = hashSources()
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return
  const { build } = await import('vite')
  await build({ configFile: join(root, 'web', 'vite.config.ts') })
  compressTexts()
  writeFileSync(stampFile, wanted)
}

function hashSources(): string {
  const hash = createHash('sha256')
  const isSource = (entry: { isFile(): boolean; parentPath: string }) =>
    entry.isFile() && !entry.parentPath.startsWith(dist)
  const files = globSync(sources, { cwd: root, withFileTypes: true }).filter(isSource)
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex')
}

function compressTexts(): void {
  for (const name of globSync('**/*.{html,js,css,svg}', { cwd: dist })) {
    const bytes = readFileSync(join(dist, name))
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
    writeFileSync(join(dist, `${name}.br`), brotliCompressSync(bytes, { params }))
    writeFileSync(join(dist, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

if (process.argv[1] === import.meta.filename) await buildDashboard()
