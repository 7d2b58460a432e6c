// Fits the runtime into little memory. V8 and the C library size themselves for a large machine, whatever memory the
// server plans with, and their limits must be set before they start.

import process from 'node:process'
import { getHeapStatistics } from 'node:v8'

/** With more memory than this, no limits are set. */
const enoughMb = 2048

const mebibyte = 2 ** 20

/**
 * Restarts the program as the same process, with limits for V8 and the C library, if `memoryMb` (MiB) is little and no
 * limits are set. Call it before anything is open. It returns if there is nothing to do, or if the system cannot
 * replace a running program.
 */
export function fitIntoMemory(memoryMb: number): void {
  const flags = memoryMb < enoughMb ? writeFlags(memoryMb) : []
  const { execve } = process as { execve?: (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never }
  if (flags.length === 0 || !execve || process.platform === 'win32') return
  // Otherwise each thread has a C library heap of its own, which keeps the memory that was freed there.
  const env = { MALLOC_ARENA_MAX: '2', ...process.env }
  execve.call(process, process.execPath, [process.argv0, ...flags, ...process.execArgv, ...process.argv.slice(1)], env)
}

/** Returns the variables that are not set yet. */
function writeFlags(memoryMb: number): string[] {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').replaceAll('_', '-')
  // V8 keeps up to three times this size of young objects in each thread. More only saves collections.
  const youngMb = Math.max(4, Math.floor(memoryMb / 64))
  const oldMb = Math.floor(memoryMb / 2)
  const isLess = oldMb * mebibyte < getHeapStatistics().heap_size_limit
  return [
    ...(given.includes('--max-semi-space-size') ? [] : [`--max-semi-space-size=${youngMb}`]),
    ...(given.includes('--max-old-space-size') || !isLess ? [] : [`--max-old-space-size=${oldMb}`]),
  ]
}
