// Starts one of the project's programs with the pinned runtime: node scripts/run.js <entry.ts> [arguments].
// Installs the dependencies first when they are missing or the lock file has changed. Runs on Node 18 and later, so that
// whatever Node a machine has is enough to begin with.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const pinnedNode = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
/** From a package for this platform alone, whose integrity stands in the lock file. */
const platformName = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const platformNode = join(
  ...[root, 'node_modules', `node-${platformName}`, 'bin'],
  process.platform === 'win32' ? 'node.exe' : 'node',
)
const stampFile = join(root, 'node_modules', '.installed')

/** Halves the time that a short program takes, and the many that tests start; as in the command line (nightjar). */
const compileCache = join(root, 'node_modules', '.cache', 'nightjar')

/** Test and check programs need the development dependencies, the server and the demo do not. */
const isDevelopment = /^(scripts\/(test|check|attack|emit-sdk)|bench\/)/

/** Programs that start servers. */
const showsDashboard = /^(server\/commands\/nightjar|scripts\/(demo|test|check)|bench\/)/

/** The program that runs now: npm, the build or the one that was asked for. */
let child

/** The first signal that came, or SIGTERM when npm was gone. */
let endedBy

await main()

async function main() {
  const present = process.versions.node
  if (Number.parseInt(present, 10) < 18) fail(`Node.js ${present} is too old to begin with; install 18 or later.`)
  const [entry, ...args] = process.argv.slice(2)
  if (entry === undefined) fail('usage: node scripts/run.js <entry.ts> [arguments]')
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => end(name))
  endWithNpm(entry)
  await install(isDevelopment.test(entry))
  if (showsDashboard.test(entry)) await buildDashboard()
  const { code, signal } = await run(
    pinnedNode,
    ['--disable-warning=ExperimentalWarning', join(root, entry), ...args],
    // The program ends when it finds that this process is gone (server/commands/parent-watch.ts).
    {
      stdio: 'inherit',
      env: { NODE_COMPILE_CACHE: compileCache, ...process.env, NIGHTJAR_END_WITH: `${process.pid}` },
    },
  ).catch((error) => fail(`cannot start ${pinnedNode}: ${error.message}`))
  process.exit(signal ? exitCodeOf(signal) : (code ?? 1))
}

function end(signal) {
  endedBy ??= signal
  child?.kill(signal)
}

/**
 * npm passes SIGTERM on, because the scripts in package.json replace their shell (`exec`); when it is killed it passes nothing on.
 * So a process that npm started ends, as by SIGTERM, when its parent is gone. Nothing else counts: a server that was started
 * in the background outlives its terminal as long as npm does.
 */
function endWithNpm(entry) {
  if (!process.env.npm_lifecycle_script?.includes(`scripts/run.js ${entry}`)) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    end('SIGTERM')
  }, 1000)
  timer.unref()
}

/** Runs a program until it ends; nothing more is started after a signal. */
function run(command, args, options) {
  if (endedBy) process.exit(exitCodeOf(endedBy))
  return new Promise((resolve, reject) => {
    child = spawn(command, args, options)
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve({ code, signal }))
  })
}

function exitCodeOf(signal) {
  return 128 + (constants.signals[signal] ?? 0)
}

async function install(withDevelopment) {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const [lock, kind] = existsSync(stampFile) ? readFileSync(stampFile, 'utf8').trim().split(' ') : []
  if (lock === wanted && (kind === 'all' || !withDevelopment) && existsSync(pinnedNode)) return
  process.stderr.write('Installing dependencies (once; this takes about a minute) …\n')
  // A server that runs keeps the packages it uses: those for development are added beside them. `ci` removes all first.
  const isAdding = lock === wanted && existsSync(pinnedNode)
  const how = isAdding ? ['install', '--no-save', '--include=dev'] : ['ci', ...(withDevelopment ? [] : ['--omit=dev'])]
  // Install scripts stay off: they would fetch programs from elsewhere, or, as that of "node", without the lock file.
  await npm([...how, '--ignore-scripts', '--loglevel=error'])
  if (!isAdding) placeRuntime()
  writeFileSync(stampFile, `${wanted} ${withDevelopment ? 'all' : 'production'}\n`)
}

/** As the install script of the package "node" would, but with the program that npm has verified. */
function placeRuntime() {
  if (!existsSync(platformNode))
    fail(`There is no Node.js for ${platformName} among the dependencies; Linux on x64 and arm64 is served.`)
  if (process.platform === 'win32') return
  const program = join(root, 'node_modules', 'node', 'bin', 'node')
  mkdirSync(dirname(program), { recursive: true })
  rmSync(program, { force: true })
  try {
    linkSync(platformNode, program)
  } catch {
    copyFileSync(platformNode, program) // a file system without links
  }
  if (!existsSync(pinnedNode)) symlinkSync(join('..', 'node', 'bin', 'node'), pinnedNode)
}

async function buildDashboard() {
  const { code } = await run(pinnedNode, [join(root, 'scripts', 'build-web.ts')], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (endedBy) process.exit(exitCodeOf(endedBy))
  if (code !== 0) fail('The dashboard could not be built; the lines above say why.')
}

async function npm(args) {
  // Standard output is kept for what the program itself prints.
  const { code } = await run('npm', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  }).catch((error) =>
    fail(`npm could not be started: ${error.message}. Install Node.js 18 or later together with npm.`),
  )
  if (endedBy) process.exit(exitCodeOf(endedBy))
  if (code !== 0) fail(`"npm ${args.join(' ')}" failed with code ${code}; the lines above say why.`)
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
