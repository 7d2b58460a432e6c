// Ends a process that keeps a processor busy. A limit of processor time counts from the start of a process, which is no use for one that
// runs for weeks; this looks at the share that it and its children took lately. Linux only: elsewhere there is no `/proc`, and no limit.

import { readFileSync } from 'node:fs'

export type CpuWatchOptions = {
  readonly pid: number
  /** Of one processor, on average over a window. Taking apart 20 Mbit/s takes 0.03. */
  readonly maxShare: number
  /** Default: 20 s. */
  readonly windowMs?: number
  /** Called once. */
  readonly onExceeded: () => void
}

const defaultWindowMs = 20_000

/** `/proc` counts in these on every Linux that Node runs on (`getconf CLK_TCK`). */
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

/** Processor time of a process and all below it, all threads included; 0 where that cannot be read. */
function readCpuMs(pid: number): number {
  const own = readStat(pid)
  return own + listChildren(pid).reduce((sum, child) => sum + readCpuMs(child), 0)
}

/** proc(5): user and system time of the process, then of its children that it has waited for. */
function readStat(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return (ticks * 1000) / ticksPerSecond
  } catch {
    return 0 // it has ended, or this system has no /proc
  }
}

/** Those that the main thread of a process has started; none where that cannot be read. */
export function listChildren(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .split(' ')
      .flatMap((each) => Number(each) || [])
  } catch {
    return [] // it has ended, or the kernel was built without
  }
}
