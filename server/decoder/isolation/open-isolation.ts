// Finds out how well decoding processes can be isolated on this system: tries each way with a process that loads the
// same libraries, the strictest first, and uses the first one that works.

import { accessSync, constants } from 'node:fs'
import { release } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'
import { type Protection, protections } from '../../../contract/protections.ts'
import { AppError } from '../../base/error.ts'
import { ProcessorWait } from '../cpu-watch.ts'
import { MessageChild } from '../message-child.ts'
import { type Isolation, type IsolationReport, noIsolation } from './isolation.ts'
import { writeSyscallFilter } from './syscall-filter.ts'

/** auto: as far as the system allows; require: refuse to start with less than `full`; off: no isolation. */
export type IsolationMode = 'auto' | 'require' | 'off'

export type OpenIsolationOptions = {
  readonly mode: IsolationMode
  /** Folders to search for bubblewrap and the other tools. Default: PATH and the usual folders. */
  readonly toolFolders?: readonly string[]
}

type Attempt = Omit<Isolation, 'report'>

/** The user that systems reserve for processes without any files. */
const nobodyUserId = 65_534

const standardFolders = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** A process that has not started by then never will, unless the machine has no processor for it. 0.2 s is usual. */
const trialTimeoutMs = 20_000
const longestTrialMs = 120_000
const lookMs = 5000

const trialMemoryBytes = 256 * 1024 * 1024

const requiredForFull: readonly Protection[] = ['network', 'files', 'processes', 'system_calls', 'memory']

/** Throws 'unavailable' when less than the required isolation is possible. */
export async function openIsolation({ mode, toolFolders }: OpenIsolationOptions): Promise<Isolation> {
  if (mode === 'off') return noIsolation
  const tools = findTools(toolFolders ?? [...(process.env.PATH ?? '').split(delimiter), ...standardFolders])
  const failures: string[] = []
  for (const attempt of listAttempts(tools)) {
    const failure = await findFailure(attempt)
    if (failure !== undefined) {
      failures.push(attempt.tools.bwrap === undefined ? failure : `bubblewrap: ${failure}`)
      continue
    }
    const report = writeReport(attempt, tools.bwrap !== undefined, failures)
    if (mode === 'require' && report.level !== 'full') {
      throw new AppError('unavailable', describeRefusal(report))
    }
    return { ...attempt, report }
  }
  if (mode === 'require') throw new AppError('unavailable', `decoders cannot be isolated: ${failures.at(-1)}`)
  return { ...noIsolation, report: { ...noIsolation.report, reason: failures.at(-1), advice: undefined } }
}

type Tools = { readonly [name in keyof Isolation['tools']]: string | undefined }

function findTools(folders: readonly string[]): Tools {
  const find = (name: string) =>
    process.platform === 'linux'
      ? folders.filter(isAbsolute).map((folder) => join(folder, name)).find(isExecutable) // biome-ignore format: one line
      : undefined
  return { bwrap: find('bwrap'), prlimit: find('prlimit'), setpriv: find('setpriv'), choom: find('choom') }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The strictest first. */
function listAttempts({ bwrap, ...others }: Tools): Attempt[] {
  // The server runs as root: use the unprivileged user if it can read the program files.
  const users = process.getuid?.() === 0 ? [nobodyUserId, undefined] : [undefined]
  const filter = writeSyscallFilter()
  const common = {
    usesPermissionModel: true,
    mountsProc: false,
    limitsThreads: false,
    userId: undefined,
    filter: undefined,
  }
  const inSandbox = users.flatMap((userId): Attempt[] => {
    const limitsThreads = userId !== undefined || process.getuid?.() !== 0
    const best = {
      ...common,
      tools: { bwrap, ...others },
      userId,
      filter,
      limitsThreads: limitsThreads && countsBySandbox(),
    }
    // Containers, and services whose unit protects kernel settings, cannot mount a complete /proc.
    return [{ ...best, mountsProc: true }, best]
  })
  const alone = users.map((userId): Attempt => ({ ...common, tools: others, userId }))
  return [...(bwrap === undefined ? [] : inSandbox), ...alone, { ...common, tools: {} }]
}

/** Since Linux 5.14, the process limit counts the processes of a user namespace; before, all processes of the user. */
function countsBySandbox(): boolean {
  const [major = 0, minor = 0] = release()
    .split('.')
    .map((part) => Number.parseInt(part, 10))
  return major > 5 || (major === 5 && minor >= 14)
}

/** Returns why a process cannot be started with this isolation; undefined when it can. */
function findFailure(attempt: Attempt): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const child = new MessageChild({
    program: new URL('./trial-process.ts', import.meta.url),
    memoryBytes: trialMemoryBytes,
    isolation: { ...attempt, report: noIsolation.report },
    onMessage: ([isLoaded]) => resolve(isLoaded === 1 ? undefined : 'FFmpeg has no decoder for H.264'),
    onExit: (reason) => resolve(shorten(reason)),
  })
  const wait = child.pid === undefined ? undefined : new ProcessorWait(child.pid)
  let triedMs = 0
  const timer = setInterval(() => {
    triedMs += lookMs
    // Less isolation, for as long as the server runs, would be a high price for a slow start of the machine.
    const limitMs = wait?.isLacking() ? longestTrialMs : trialTimeoutMs
    if (triedMs >= limitMs) resolve(`no answer in ${triedMs} ms`)
  }, lookMs)
  return promise.finally(() => {
    clearInterval(timer)
    return child.stop()
  })
}

/** Returns the line of an error output that states the reason. */
function shorten(reason: string): string {
  const lines = reason.split('\n')
  const line = lines.find((each) => /(bwrap|prlimit|setpriv|choom): |Error/.test(each)) ?? lines[0]!
  return line.trim().slice(0, 300)
}

function writeReport(attempt: Attempt, hasBubblewrap: boolean, failures: readonly string[]): IsolationReport {
  const { tools, usesPermissionModel, limitsThreads, filter, userId } = attempt
  const isSandboxed = tools.bwrap !== undefined
  const isRoot = process.getuid?.() === 0 && userId === undefined
  const isInForce: { readonly [name in Protection]: boolean } = {
    network: isSandboxed,
    files: isSandboxed,
    processes: isSandboxed,
    system_calls: isSandboxed && filter !== undefined,
    memory: tools.prlimit !== undefined,
    threads: isSandboxed && tools.prlimit !== undefined && limitsThreads,
    privileges: (isSandboxed || tools.setpriv !== undefined) && !isRoot,
    permission_model: usesPermissionModel,
  }
  const inForce = protections.filter((name) => isInForce[name])
  const missing = protections.filter((name) => !isInForce[name])
  const isFull = requiredForFull.every((name) => isInForce[name])
  return {
    level: isFull ? 'full' : 'partial',
    inForce,
    missing,
    ...explain({ isSandboxed, hasBubblewrap, isRoot, hasLimits: tools.prlimit !== undefined, missing, failures }),
  }
}

type Findings = {
  readonly isSandboxed: boolean
  readonly hasBubblewrap: boolean
  readonly isRoot: boolean
  readonly hasLimits: boolean
  readonly missing: readonly Protection[]
  readonly failures: readonly string[]
}

function explain(findings: Findings): { reason: string | undefined; advice: string | undefined } {
  const { isSandboxed, hasBubblewrap, isRoot, hasLimits, missing, failures } = findings
  if (process.platform !== 'linux') return { reason: 'this system is not Linux', advice: undefined }
  if (!isSandboxed && !hasBubblewrap)
    return { reason: 'bubblewrap (bwrap) is not installed', advice: 'apt install bubblewrap' }
  if (!isSandboxed) {
    return {
      reason: failures[0] ?? 'bubblewrap cannot be used',
      advice: 'allow user namespaces for this user; see docs/operating.md, Isolation of the decoders',
    }
  }
  if (!hasLimits) return { reason: 'prlimit is not installed', advice: 'apt install util-linux' }
  if (isRoot) {
    return {
      reason: `the user "nobody" cannot run the program: ${failures[0]}`,
      advice: 'run the server as a dedicated user, or install the program in a folder that all users can read',
    }
  }
  if (missing.includes('system_calls'))
    return { reason: `there is no system call filter for ${process.arch}`, advice: undefined }
  if (missing.includes('threads')) return { reason: 'the kernel is older than 5.14', advice: 'use a newer kernel' }
  return { reason: undefined, advice: undefined }
}

function describeRefusal({ missing, reason, advice }: IsolationReport): string {
  const problem = `the option isolation is "require", but decoders would run without: ${missing.join(', ')}`
  return `${problem}; ${reason}${advice === undefined ? '' : `. To get it: ${advice}`}`
}
