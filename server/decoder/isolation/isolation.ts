// How the processes that decode are kept from everything but their work, and the command that starts one so. Plain data: it crosses to
// the media workers. What is possible on this system is found by open-isolation.ts. docs/design/isolation.md

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
  /** Why something is missing, and what to do about it. */
  readonly reason: string | undefined
  readonly advice: string | undefined
}

export type Isolation = {
  /** Node's permission model: holds JavaScript, not native code. */
  readonly usesPermissionModel: boolean
  /** The programs that set things up before Node starts, by their paths; undefined for those that are not used. */
  readonly tools: {
    readonly bwrap?: string | undefined
    readonly prlimit?: string | undefined
    readonly setpriv?: string | undefined
    readonly choom?: string | undefined
  }
  /** With bubblewrap: whether a /proc is mounted, which systems that hide parts of their own do not allow. */
  readonly mountsProc: boolean
  /** With bubblewrap: whether the limit of processes and threads counts those of the sandbox alone. */
  readonly limitsThreads: boolean
  /** User and group to run as, when the server runs as root. */
  readonly userId: number | undefined
  /** Written by `writeSyscallFilter`; only with bubblewrap. */
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
    reason: 'it is switched off by the option isolation',
    advice: undefined,
  },
}

export type IsolatedProgram = {
  readonly file: URL
  readonly args: readonly string[]
  /** What it may take of memory beyond that of Node itself. */
  readonly memoryBytes: number
}

export type IsolatedCommand = {
  readonly file: string
  readonly args: readonly string[]
  readonly userId: number | undefined
  /** To be written to descriptor 3, which is then closed. */
  readonly filter: Uint8Array | undefined
}

/** V8 reserves this much as writable and executable memory, without using it, and some threads have their stacks: it counts. */
const runtimeBytes = 640 * 1024 * 1024
/** Addresses that V8 reserves and never makes writable. With `--disable-wasm-trap-handler`; 10 GB otherwise. */
const reservedBytes = 6 * 1024 ** 3
/** Node itself has 24 open. */
const maxOpenFiles = 128
/** Node and FFmpeg have 7. */
const maxThreads = 64
/** The system looks for the process to end among those of a higher score, when memory is short; the server has 0. */
const oomScore = 500

/** Pictures and audio are no objects of JavaScript: a small heap, collected by its own thread, spares a quarter of what such a process takes. */
const runtimeFlags = ['--max-old-space-size=128', '--max-semi-space-size=1', '--single-threaded-gc', '--v8-pool-size=1']

/** Folders and files that the programs consist of. */
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
    // Bubblewrap refuses to run with capabilities it did not ask for; it forbids new privileges itself, unless it is a setuid program.
    const dropped = ['--inh-caps=-all', '--ambient-caps=-all']
    const alone = tools.bwrap === undefined ? ['--no-new-privs', '--pdeathsig=KILL'] : []
    command = [tools.setpriv, ...dropped, ...alone, '--', ...command]
  }
  if (tools.choom !== undefined) command = [tools.choom, '-n', `${oomScore}`, '--', ...command]
  return { file: command[0]!, args: command.slice(1), userId, filter }
}

/** Addons are native code, and may do anything that the system allows: the permission model does not hold them. */
function writePermissions(files: readonly string[]): string[] {
  const flags = ['--permission', '--allow-addons', '--disable-warning=SecurityWarning']
  return [...flags, ...files.map((path) => `--allow-fs-read=${path}`)]
}

/** Hard limits: a process cannot raise them again. */
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
