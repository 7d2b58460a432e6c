// Starts one of the project's programs with the pinned runtime: node scripts/run.js <entry.ts> [arguments].
// Installs the dependencies first when they are missing or the lock file has changed. Runs on Node 18 and later, so that
// whatever Node a machine has is enough to begin with.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const pinnedNode = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
const stampFile = join(root, 'node_modules', '.installed')

/** Halves the time that a short program takes, and the many that tests start; as in the command line (nightjar). */
const compileCache = join(root, 'node_modules', '.cache', 'nightjar')

/** Test and check programs need the development dependencies, the server and the demo do not. */
const isDevelopment = /^(scripts\/(test|check|emit-sdk)|bench\/)/

/** Programs that start servers. */
const showsDashboard = /^(server\/commands\/nightjar|scripts\/(demo|test|check)|bench\/)/

main()

function main() {
  const present = process.versions.node
  if (Number.parseInt(present, 10) < 18) fail(`Node.js ${present} is too old to begin with; install 18 or later.`)
  const [entry, ...args] = process.argv.slice(2)
  if (entry === undefined) fail('usage: node scripts/run.js <entry.ts> [arguments]')
  install(isDevelopment.test(entry))
  if (showsDashboard.test(entry)) buildDashboard()
  const child = spawn(pinnedNode, ['--disable-warning=ExperimentalWarning', join(root, entry), ...args], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env },
  })
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name))
  child.on('error', (error) => fail(`cannot start ${pinnedNode}: ${error.message}`))
  child.on('exit', (code, name) => process.exit(name ? 128 + (constants.signals[name] ?? 0) : (code ?? 1)))
}

function install(withDevelopment) {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const [lock, kind] = existsSync(stampFile) ? readFileSync(stampFile, 'utf8').trim().split(' ') : []
  if (lock === wanted && (kind === 'all' || !withDevelopment) && existsSync(pinnedNode)) return
  process.stderr.write('Installing dependencies (once; this takes about a minute) …\n')
  // Install scripts stay off: one package would fetch a program from elsewhere. Only the pinned runtime needs its own.
  npm(['ci', '--ignore-scripts', '--loglevel=error', ...(withDevelopment ? [] : ['--omit=dev'])])
  npm(['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error'])
  if (!existsSync(pinnedNode)) fail('the package "node" did not install its program; try: npm ci && npm rebuild node')
  writeFileSync(stampFile, `${wanted} ${withDevelopment ? 'all' : 'production'}\n`)
}

function buildDashboard() {
  const { status } = spawnSync(pinnedNode, [join(root, 'scripts', 'build-web.ts')], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) fail('The dashboard could not be built; the lines above say why.')
}

function npm(args) {
  // Standard output is kept for what the program itself prints.
  const { status, error } = spawnSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (error) fail(`npm could not be started: ${error.message}. Install Node.js 18 or later together with npm.`)
  if (status !== 0) fail(`"npm ${args.join(' ')}" failed with code ${status}; the lines above say why.`)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
