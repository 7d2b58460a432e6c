// Runs a parser on inputs that nobody would write: the corpus, generated ones, and what becomes of both when they are changed again and
// again. docs/design/faults.md.

import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { createRandom } from '../fake-camera/scene/random.ts'
import type { FuzzTarget } from './fuzz-target.ts'
import { mutate } from './mutate.ts'

export type FuzzLimits = {
  readonly seconds: number
  readonly maxRuns?: number
  readonly seed: number
  /** Longest time of a processor an input may take; unlimited unless given. */
  readonly maxMs?: number
  /** Told of each input before it is run. */
  readonly onInput?: (input: Uint8Array) => void
}

export type Finding = { readonly input: Uint8Array; readonly problem: string }

export type FuzzReport = {
  readonly target: string
  readonly runs: number
  /** How many different outcomes there were. */
  readonly outcomes: number
  /** The slowest input. */
  readonly slowestMs: number
  readonly finding: Finding | undefined
}

const maxPool = 400
/** Held by the process: no input may make a parser keep more. */
const maxHeldBytes = 1024 * 1024 * 1024

/** Stops at the first finding. */
export async function fuzz(target: FuzzTarget, limits: FuzzLimits): Promise<FuzzReport> {
  const { seconds, maxRuns = Number.POSITIVE_INFINITY, seed, maxMs = Number.POSITIVE_INFINITY, onInput } = limits
  const random = createRandom(seed)
  const pool = [...target.seeds(), ...readCorpus(target.name)]
  const seen = new Set<string>()
  const endMs = performance.now() + seconds * 1000
  let runs = 0
  let slowestMs = 0
  let generatedAt = 0
  const queue = [...pool]
  let finding: Finding | undefined
  while (!finding && (queue.length > 0 || (runs < maxRuns && performance.now() < endMs))) {
    if (queue.length === 0 && runs >= generatedAt && target.generated) {
      queue.push(...fc.sample(target.generated, { numRuns: 20, seed: Math.floor(random() * 2 ** 31) }))
      generatedAt = runs + 400
    }
    const parent = pool[Math.floor(random() * pool.length)] ?? new Uint8Array()
    const input = queue.pop() ?? mutate(parent, pool, target.words ?? [], random)
    runs++
    onInput?.(input)
    const { outcome, problem, ms } = await runOnce(target, input, createRandom(seed + runs))
    slowestMs = Math.max(slowestMs, ms)
    if (problem) finding = { input, problem }
    // What else the thread did (compile, collect) is not the parser's fault: it must be slow each time.
    else if (ms > maxMs && (await isSlow(target, input, maxMs)))
      finding = { input, problem: `takes ${ms} ms each time` }
    else if (!seen.has(outcome)) {
      seen.add(outcome)
      pool.push(input)
      if (pool.length > maxPool) pool.splice(Math.floor(random() * maxPool), 1)
    }
    if (runs % 500 === 0) {
      const { arrayBuffers, heapUsed } = process.memoryUsage()
      if (arrayBuffers + heapUsed > maxHeldBytes) finding = { input, problem: 'memory grows without end' }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { target: target.name, runs, outcomes: seen.size, slowestMs, finding }
}

/** Every input of the corpus once. */
export async function runCorpus(target: FuzzTarget): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const input of [...target.seeds(), ...readCorpus(target.name)]) {
    const { problem } = await runOnce(target, input, createRandom(1))
    if (problem) findings.push({ input, problem })
  }
  return findings
}

export function corpusFolder(target: string): URL {
  return new URL(`corpus/${target}/`, import.meta.url)
}

function readCorpus(target: string): Uint8Array[] {
  const folder = corpusFolder(target)
  try {
    const names = readdirSync(folder).sort()
    return names.map((name) => new Uint8Array(readFileSync(new URL(name, folder))))
  } catch {
    return [] // nothing was ever found here
  }
}

type Run = { readonly outcome: string; readonly problem: string | undefined; readonly ms: number }

async function runOnce(target: FuzzTarget, input: Uint8Array, random: () => number): Promise<Run> {
  const before = process.threadCpuUsage()
  // Of this thread alone: how busy the machine is does not matter.
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
  try {
    // A copy: a parser that changes its input would spoil the report.
    const running = target.run(input.slice(), random)
    const outcome = typeof running === 'string' ? running : await running
    return { outcome, problem: undefined, ms: cpuMs() }
  } catch (error) {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { outcome: '', problem, ms: cpuMs() }
  }
}

async function isSlow(target: FuzzTarget, input: Uint8Array, maxMs: number): Promise<boolean> {
  for (let i = 0; i < 3; i++) if ((await runOnce(target, input, createRandom(i))).ms <= maxMs) return false
  return true
}
