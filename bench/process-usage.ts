// What processes use, as the Linux kernel counts it: /proc/PID/stat and smaps_rollup, see proc(5).

import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** The unit of times in /proc/PID/stat: USER_HZ, 100 per second on every Linux a Node runs on. */
const tickMs = 10

type Stat = { readonly pid: number; readonly parentPid: number; readonly cpuMs: number }

/**
 * CPU time of these processes with all their threads and descendants, user and kernel, since they began. A child that has
 * ended is counted by its parent, so that differences stay right.
 */
export async function readCpuMs(rootPids: readonly number[]): Promise<number> {
  return (await listTree(rootPids)).reduce((total, { cpuMs }) => total + cpuMs, 0)
}

/** CPU time of a process's first thread, to the nanosecond (sched_debug's schedstat): of Node, the one that runs its JavaScript. */
export function readMainThreadCpuMs(pid: number): number {
  const [nanoseconds = ''] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')
  return Number(nanoseconds) / 1e6
}

/** Memory of these processes and their descendants: what they share with others is divided fairly (PSS). */
export async function readMemoryBytes(rootPids: readonly number[]): Promise<number> {
  const tree = await listTree(rootPids)
  const sizes = await Promise.all(tree.map(({ pid }) => readPssBytes(pid)))
  return sizes.reduce((total, bytes) => total + bytes, 0)
}

/** As `readMemoryBytes`, of descendants alone. */
export async function readChildMemoryBytes(rootPids: readonly number[]): Promise<number> {
  const children = (await listTree(rootPids)).filter(({ pid }) => !rootPids.includes(pid))
  const sizes = await Promise.all(children.map(({ pid }) => readPssBytes(pid)))
  return sizes.reduce((total, bytes) => total + bytes, 0)
}

/** How many processes: these and their descendants. */
export async function countProcesses(rootPids: readonly number[]): Promise<number> {
  return (await listTree(rootPids)).length
}

async function listTree(rootPids: readonly number[]): Promise<Stat[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const all = (await Promise.all(names.map(readStat))).filter((stat) => stat !== undefined)
  const pids = new Set(rootPids)
  // A child may have a lower number than its parent, so look until nothing is added.
  for (let size = 0; size < pids.size; ) {
    size = pids.size
    for (const { pid, parentPid } of all) if (pids.has(parentPid)) pids.add(pid)
  }
  return all.filter(({ pid }) => pids.has(pid))
}

async function readStat(pid: string): Promise<Stat | undefined> {
  try {
    const { parentPid, ownCpuMs, childrenCpuMs } = parseStat(await readFile(`/proc/${pid}/stat`, 'latin1'))
    return { pid: Number(pid), parentPid, cpuMs: ownCpuMs + childrenCpuMs }
  } catch {
    return undefined // ended meanwhile
  }
}

export type ParsedStat = { readonly parentPid: number; readonly ownCpuMs: number; readonly childrenCpuMs: number }

/** The name of a program, the second field, may hold spaces and brackets. */
export function parseStat(text: string): ParsedStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [userTicks = 0, kernelTicks = 0, childUserTicks = 0, childKernelTicks = 0] = fields.slice(11, 15).map(Number)
  return {
    parentPid: Number(fields[1]),
    ownCpuMs: (userTicks + kernelTicks) * tickMs,
    childrenCpuMs: (childUserTicks + childKernelTicks) * tickMs,
  }
}

async function readPssBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'latin1').catch(() => '')
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024
}

/** CPU time of the whole machine that was not idle, since it was started. */
export async function readBusyMs(): Promise<number> {
  const [first = ''] = (await readFile('/proc/stat', 'latin1')).split('\n')
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0] = first
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + interrupts + softInterrupts) * tickMs
}
