// Watches how much processor time a process gets: ends one that keeps a processor busy, and notices when one gets none. A
// limit of total processor time does not suit a process that runs for weeks, so this checks the recent share of the
// process and its children. Linux only: without `/proc` there is no limit.

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

/**
 * Tells a process that hangs from one that gets no processor, because the machine is busy with others. Where the system does
 * not say, none lacks one.
 */
export class ProcessorWait {
  readonly #pid: number
  #lastMs = performance.now()
  #last: Scheduling

  constructor(pid: number) {
    this.#pid = pid
    this.#last = readScheduling(pid)
  }

  /** Whether it has waited for a processor for more than half of the time since the last call, or since the creation. */
  isLacking(): boolean {
    const nowMs = performance.now()
    const halfMs = (nowMs - this.#lastMs) / 2
    const before = this.#last
    const now = readScheduling(this.#pid)
    this.#lastMs = nowMs
    this.#last = now
    // A wait counts when it ends, which may not have happened yet.
    const isWaiting = now.isReady && now.ranMs - before.ranMs < halfMs
    return isWaiting || now.waitedMs - before.waitedMs > halfMs
  }
}

/** `isReady`: has a processor, waits for one, or for a disk. Of main threads. */
type Scheduling = { readonly ranMs: number; readonly waitedMs: number; readonly isReady: boolean }

/** Of a process and its descendants together. */
function readScheduling(pid: number): Scheduling {
  const own = readOwnScheduling(pid)
  return listChildren(pid)
    .map(readScheduling)
    .reduce(
      (sum, each) => ({
        ranMs: sum.ranMs + each.ranMs,
        waitedMs: sum.waitedMs + each.waitedMs,
        isReady: sum.isReady || each.isReady,
      }),
      own,
    )
}

/** See proc(5), and for schedstat, whose numbers are nanoseconds, Documentation/scheduler/sched-stats.rst of Linux. */
function readOwnScheduling(pid: number): Scheduling {
  try {
    const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const state = stat[stat.lastIndexOf(')') + 2]
    return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6, isReady: state === 'R' || state === 'D' }
  } catch {
    return { ranMs: 0, waitedMs: 0, isReady: false } // the process has ended, or the kernel does not count it
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
