// One turn of the api bench: a server is asked as often as it can answer, and what that cost is read from the kernel.

import { setTimeout as sleep } from 'node:timers/promises'
import { readCpuMs } from '../process-usage.ts'
import type { LoadGenerator } from './load-generator.ts'

export type Subject = {
  readonly pid: number
  readonly port: number
  /** PEM of its certificate. */
  readonly ca: string
  readonly authorization: string
  /** What the process uses without requests, of one core. */
  readonly idleShare: number
}

export type Measured = {
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time of the server for one request, over what it uses without requests; microseconds. */
  readonly cpuMicros: number
  /** Of one core, that without requests included. */
  readonly serverCpuPercent: number
  readonly generatorCpuPercent: number
  /** Protocol and cipher. */
  readonly tls: string
}

/** At once, each with one request on its way. */
export const connections = 32
const warmUpMs = 1000
const idleMs = 3000

export type RequestOptions = { readonly path: string; readonly measuredMs: number }

/** What a process uses while nobody asks it anything, of one core. */
export async function measureIdleShare(pid: number): Promise<number> {
  const before = await readUsage(pid)
  await sleep(idleMs)
  return shareSince(before, await readUsage(pid))
}

/** Throws when an answer is not 200. */
export async function measureRequests(
  generator: LoadGenerator,
  { pid, idleShare, ...subject }: Subject,
  options: RequestOptions,
): Promise<Measured> {
  let measuring: Promise<Usage> | undefined
  const result = await generator.run({ ...subject, ...options, connections, warmUpMs }, () => {
    measuring = readUsage(pid)
  })
  const share = shareSince(await measuring!, await readUsage(pid))
  const requestsPerSecond = (result.requests * 1000) / result.elapsedMs
  return {
    requestsPerSecond,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuMicros: ((share - idleShare) * 1e6) / requestsPerSecond,
    serverCpuPercent: share * 100,
    tls: result.tls,
    generatorCpuPercent: (result.cpuMs / result.elapsedMs) * 100,
  }
}

type Usage = { readonly cpuMs: number; readonly atMs: number }

async function readUsage(pid: number): Promise<Usage> {
  return { cpuMs: await readCpuMs([pid]), atMs: performance.now() }
}

/** Of one core. */
function shareSince(before: Usage, after: Usage): number {
  return (after.cpuMs - before.cpuMs) / (after.atMs - before.atMs)
}
