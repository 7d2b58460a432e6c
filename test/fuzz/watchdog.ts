// Sees from another thread that a parser does not come back, and keeps what it was given: nothing else could.

import { writeFileSync } from 'node:fs'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { maxInputBytes } from './mutate.ts'

export type Watchdog = Disposable & {
  /** The input that is being parsed from now on. */
  note(input: Uint8Array): void
}

const hangMs = 10_000

type Shared = { readonly state: Int32Array; readonly input: Uint8Array; readonly file: string }

/** When an input takes longer than ten seconds it is written to `file`, and the process is killed. */
export function openWatchdog(file: string): Watchdog {
  const state = new Int32Array(new SharedArrayBuffer(8))
  const input = new Uint8Array(new SharedArrayBuffer(maxInputBytes))
  const worker = new Worker(new URL(import.meta.url), { workerData: { state, input, file } satisfies Shared })
  worker.unref()
  return {
    note(next) {
      input.set(next.subarray(0, maxInputBytes))
      state[1] = Math.min(next.length, maxInputBytes)
      Atomics.add(state, 0, 1)
    },
    [Symbol.dispose]: () => void worker.terminate(),
  }
}

function watch({ state, input, file }: Shared): void {
  let last = -1
  setInterval(() => {
    const now = Atomics.load(state, 0)
    if (now === last) {
      writeFileSync(file, input.subarray(0, state[1]))
      console.error(`An input takes longer than ${hangMs / 1000} s; kept as ${file}`)
      process.kill(process.pid, 'SIGKILL')
    }
    last = now
  }, hangMs)
}

if (!isMainThread) watch(workerData as Shared)
