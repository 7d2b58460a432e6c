// The resident memory of a process over a while (proc(5)), and whether it grew.

import { readFileSync } from 'node:fs'

export type MemoryCurve = {
  /** Medians of the second and of the last quarter of the time, MB. */
  readonly earlyMB: number
  readonly lateMB: number
  readonly samples: number
}

export function watchMemory(pid: number): { stop(): MemoryCurve } {
  const samples: number[] = []
  const timer = setInterval(() => samples.push(readResidentMB(pid)), 1000)
  return {
    stop() {
      clearInterval(timer)
      const quarter = (index: number) =>
        median(samples.slice(Math.floor((samples.length * index) / 4), Math.ceil((samples.length * (index + 1)) / 4)))
      return { earlyMB: quarter(1), lateMB: quarter(3), samples: samples.length }
    },
  }
}

function readResidentMB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1000
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}
