// Lets system calls of a running process fail or wait: strace does it, for the files that are named.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Syncs fail with EIO. */
export function failSyncs(pid: number, files: readonly string[]): Promise<AsyncDisposable> {
  return changeCalls(pid, files, 'fsync,fdatasync', 'error=EIO')
}

/** Each read from a place in a file takes so much longer. */
export function delayReads(pid: number, files: readonly string[], ms: number): Promise<AsyncDisposable> {
  return changeCalls(pid, files, 'pread64,preadv,preadv2', `delay_enter=${ms * 1000}`)
}

/** From when this resolves until it is disposed of, in all threads that the process has. */
async function changeCalls(pid: number, files: readonly string[], names: string, change: string) {
  const paths = files.flatMap((file) => ['-P', file])
  const calls = ['-e', `trace=${names}`, '-e', `inject=${names}:${change}`]
  const tracer = spawn('strace', ['-f', '-p', String(pid), '-o', '/dev/null', ...paths, ...calls], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(tracer, 'exit')
  const lines: string[] = []
  const stderr = createInterface(tracer.stderr!)
  // One line for the process, with its threads.
  await Promise.race([
    new Promise<void>((resolve) =>
      stderr.on('line', (line) => {
        lines.push(line)
        if (/ attached/.test(line)) resolve()
      }),
    ),
    ended.then(() => Promise.reject(new Error(`strace cannot look into the process: ${lines.join('\n')}`))),
  ])
  return {
    async [Symbol.asyncDispose]() {
      if (tracer.exitCode !== null || tracer.signalCode !== null) return
      tracer.kill('SIGINT')
      // On a busy machine, strace sometimes waits forever for a process that has exited, and holds its threads.
      const impatient = setTimeout(() => tracer.kill('SIGKILL'), 3000)
      await ended
      clearTimeout(impatient)
    },
  }
}
