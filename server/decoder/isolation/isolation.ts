// Describes how decoding processes are isolated, and builds the command that starts one. Plain data that can be sent to
// media workers. open-isolation.ts finds out what this system supports. docs/design/isolation.md

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Protection, protections } from '../../../contract/protections.ts'
import { writeBubblewrapArgs } from './bubblewrap.ts'

export type IsolationReport = {
  /** full: at least network, files, processes, system calls and memory. */
  readonly level: 'full' | 'partial' | 'off'
  readonly inForce: readonly Protection[]
  readonly missing: readonly Protection[]
  /** Why something is missing, and how to fix it. */
  readonly reason: string | undefined
  readonly advice: string | undefined
}

export type Isolation = {
  /** Node's permission model. It restricts JavaScript, but not native code. */
  readonly usesPermissionModel: boolean
  /** Paths of the programs that set up the isolation before Node starts. Undefined for programs that are not used. */
  readonly tools: {
    readonly bwrap?: string | undefined
    readonly prlimit?: string | undefined
    readonly setpriv?: string | undefined
    readonly choom?: string | undefined
  }
  /** With bubblewrap: whether a /proc is mounted. Systems that hide parts of their own do not allow it. */
  readonly mountsProc: boolean
  /** With bubblewrap: whether the limit of processes and threads counts only those of the sandbox. */
  readonly limitsThreads: boolean
  /** User and group to run as, when the server runs as root. */
  readonly userId: number | undefined
  /** The output of `writeSyscallFilter`. Only with bubblewrap. */
  readonly filter: Uint8Array | undefined
  readonly report: IsolationReport
}

/** Only the environment is empty. */
export const noIsolation: Isolation = {
  usesPermissionModel: false,
  tools: {},
  mountsProc: false,
  limitsThreads: false,
  userId: undefined,
  filter: undefined,
  report: {
    level: 'off',
    inForce: [],
    missing: protections,
    reason: 'it is disabled by the option isolation',
    advice: undefined,
  },
}

export type IsolatedProgram = {
  readonly file: URL
  readonly args: readonly string[]
  /** Memory limit beyond the needs of Node itself. */
  readonly memoryBytes: number
}

export type IsolatedCommand = {
  readonly file: string
  readonly args: readonly string[]
  readonly userId: number | undefined
  /** The filter to write to descriptor 3, which is then closed. */
  readonly filter: Uint8Array | undefined
}

/**
 * V8 reserves this much writable and executable memory without using it, and threads have stacks. Both count towards
 * the limit.
 */
const runtimeBytes = 640 * 1024 * 1024
/** Addresses that V8 reserves and never makes writable, with `--disable-wasm-trap-handler`. Otherwise 10 GB. */
const reservedBytes = 6 * 1024 ** 3
/** Node itself has 24 open. */
const maxOpenFiles = 128
/** Node and FFmpeg have 7. */
const maxThreads = 64
/** When memory is short, the system ends processes with a higher score first. The server has 0. */
const oomScore = 500

/**
 * Frames and audio are not on the JavaScript heap. A small heap with a single collector thread saves a quarter of the
 * memory of such a process.
 */
const runtimeFlags = ['--max-old-space-size=128', '--max-semi-space-size=1', '--single-threaded-gc', '--v8-pool-size=1']

/** Files and folders that the programs consist of. */
export function listProgramFiles(): string[] {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const modules = dirname(findPackage('node-av'))
  const native = join(modules, '@seydx', `node-av-${process.platform}-${process.arch}`)
  const own = ['package.json', 'server/base', 'server/decoder', 'server/media'].map((path) => join(root, path))
  return [...own, join(modules, 'node-av'), ...(existsSync(native) ? [native] : [])]
}

export function writeCommand(isolation: Isolation, { file, args, memoryBytes }: IsolatedProgram): IsolatedCommand {
  const { tools, usesPermissionModel, userId, filter } = isolation
  const path = fileURLToPath(file)
  const files = listProgramFiles()
  let command = [
    process.execPath,
    ...runtimeFlags,
    ...(tools.prlimit === undefined ? [] : ['--disable-wasm-trap-handler']),
    ...(usesPermissionModel ? writePermissions(files) : []),
    path,
    ...args,
  ]
  if (tools.prlimit !== undefined) {
    command = [tools.prlimit, ...writeLimits(memoryBytes, isolation.limitsThreads), '--', ...command]
  }
  if (tools.bwrap !== undefined) {
    const readable = [process.execPath, ...(tools.prlimit === undefined ? [] : [tools.prlimit]), ...files]
    const options = { readable, mountsProc: isolation.mountsProc, filterDescriptor: filter && 3 }
    command = [tools.bwrap, ...writeBubblewrapArgs(options), '--', ...command]
  }
  if (tools.setpriv !== undefined) {
    // Bubblewrap refuses to run with capabilities it did not request. It forbids new privileges itself, unless it is a
    // setuid program.
    const dropped = ['--inh-caps=-all', '--ambient-caps=-all']
    const alone = tools.bwrap === undefined ? ['--no-new-privs', '--pdeathsig=KILL'] : []
    command = [tools.setpriv, ...dropped, ...alone, '--', ...command]
  }
  if (tools.choom !== undefined) command = [tools.choom, '-n', `${oomScore}`, '--', ...command]
  return { file: command[0]!, args: command.slice(1), userId, filter }
}

/** Addons are native code, which the permission model does not restrict. */
function writePermissions(files: readonly string[]): string[] {
  const flags = ['--permission', '--allow-addons', '--disable-warning=SecurityWarning']
  return [...flags, ...files.map((path) => `--allow-fs-read=${path}`)]
}

/** Hard limits, which a process cannot raise again. */
function writeLimits(memoryBytes: number, limitsThreads: boolean): string[] {
  return [
    `--data=${runtimeBytes + memoryBytes}`,
    `--as=${reservedBytes + runtimeBytes + memoryBytes}`,
    `--nofile=${maxOpenFiles}`,
    '--core=0',
    '--fsize=0',
    ...(limitsThreads ? [`--nproc=${maxThreads}`] : []),
  ]
}

function findPackage(name: string): string {
  const path = fileURLToPath(import.meta.resolve(name))
  const folder = join('node_modules', name)
  return path.slice(0, path.lastIndexOf(folder) + folder.length)
}
