// Ends a process that keeps a processor busy. A limit of total processor time does not suit a process that runs for
// weeks, so this checks the recent share of the process and its children. Linux only: without `/proc` there is no
// limit.

import { readFileSync } from 'node:fs'

export type CpuWatchOptions = {
  readonly pid: number
  /** Share of one processor, averaged over a window. */
  readonly maxShare: number
  /** Default: 20 s. */
  readonly windowMs?: number
  /** Called once. */
  readonly onExceeded: () => void
}

const defaultWindowMs = 20_000

/** The unit of times in `/proc`, which is the same on every Linux that Node runs on (`getconf CLK_TCK`). */
const ticksPerSecond = 100

export class CpuWatch implements Disposable {
  readonly #timer: NodeJS.Timeout

  constructor({ pid, maxShare, windowMs = defaultWindowMs, onExceeded }: CpuWatchOptions) {
    let lastMs = performance.now()
    let lastCpuMs = readCpuMs(pid)
    this.#timer = setInterval(() => {
      const nowMs = performance.now()
      const cpuMs = readCpuMs(pid)
      if (cpuMs - lastCpuMs > maxShare * (nowMs - lastMs)) {
        this[Symbol.dispose]()
        onExceeded()
      }
      lastMs = nowMs
      lastCpuMs = cpuMs
    }, windowMs).unref()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

/** Processor time of a process and all its descendants, with all threads. 0 if it cannot be read. */
function readCpuMs(pid: number): number {
  const own = readStat(pid)
  return own + listChildren(pid).reduce((sum, child) => sum + readCpuMs(child), 0)
}

/** See proc(5): user and system time of the process, and of the children that it has waited for. */
function readStat(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The process name in parentheses may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return (ticks * 1000) / ticksPerSecond
  } catch {
    return 0 // the process has ended, or this system has no /proc
  }
}

/** Children started by the main thread of a process. Empty if they cannot be read. */
export function listChildren(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .split(' ')
      .flatMap((each) => Number(each) || [])
  } catch {
    return [] // the process has ended, or the kernel does not provide the file
  }
}
