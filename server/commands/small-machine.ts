// Makes the runtime fit into little memory. V8 and the C library take what they think a large machine has, whatever the server plans with, and have to be
// told before they start.

import process from 'node:process'
import { getHeapStatistics } from 'node:v8'

/** From here on nothing is said to them. */
const enoughMb = 2048

const mebibyte = 2 ** 20

/**
 * Begins the program anew, as the same process, with bounds for V8 and the C library, where `memoryMb` (MiB) is little and they have none yet. To be called
 * before anything is open. Returns where nothing is to be done, or the system cannot replace a program.
 */
export function fitIntoMemory(memoryMb: number): void {
  const flags = memoryMb < enoughMb ? writeFlags(memoryMb) : []
  const { execve } = process as { execve?: (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never }
  if (flags.length === 0 || !execve || process.platform === 'win32') return
  // Each thread would have a heap of the C library of its own, and keep there what it freed.
  const env = { MALLOC_ARENA_MAX: '2', ...process.env }
  execve.call(process, process.execPath, [process.argv0, ...flags, ...process.execArgv, ...process.argv.slice(1)], env)
}

/** Those that nobody has set. */
function writeFlags(memoryMb: number): string[] {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').replaceAll('_', '-')
  // Of young objects V8 keeps up to three times as much in each thread; more of them only spare collections.
  const youngMb = Math.max(4, Math.floor(memoryMb / 64))
  const oldMb = Math.floor(memoryMb / 2)
  const isLess = oldMb * mebibyte < getHeapStatistics().heap_size_limit
  return [
    ...(given.includes('--max-semi-space-size') ? [] : [`--max-semi-space-size=${youngMb}`]),
    ...(given.includes('--max-old-space-size') || !isLess ? [] : [`--max-old-space-size=${oldMb}`]),
  ]
}
