// One turn: a contestant starts, warms up, is measured, stops, and its files are counted.

import { setTimeout as sleep } from 'node:timers/promises'
import { readBusyMs, readChildMemoryBytes, readCpuMs, readMemoryBytes } from '../process-usage.ts'
import { median } from '../statistics.ts'
import type { Contestant } from './contestant.ts'
import { addTallies, type FrameTally, tallyFrames } from './frame-tally.ts'
import type { LoadCameras } from './load-cameras.ts'

export type Round = {
  /** Of one core. */
  readonly cpuPercentPerCamera: number
  /** Of all its processes, at the end. */
  readonly memoryBytes: number
  /** Of that, in processes its processes have started. */
  readonly childMemoryBytes: number
  readonly frames: FrameTally
  /** Pictures the cameras did not send because the contestant was slow to take them; they are among the lost. */
  readonly droppedByCameras: number
  /** What the cameras used, of one core. */
  readonly camerasCpuPercent: number
  /** What the rest of the machine used, of one core: noise. */
  readonly foreignCpuPercent: number
}

const startTimeoutMs = 60_000
/** Long enough that compilers have compiled and caches have filled; the same for both. */
const warmUpMs = 20_000
/** For what is on its way when the measured time ends. */
const drainMs = 2000
const memorySamples = 5

/** Throws when not all cameras are being recorded in time. */
export async function runRound(contestant: Contestant, load: LoadCameras, measuredMs: number): Promise<Round> {
  const startedMs = Date.now()
  const from = await load.countSent()
  await contestant.start()
  await waitForPlayers(contestant, load)
  await sleep(warmUpMs)
  const usage = await measure(contestant, load, measuredMs)
  const to = await load.countSent()
  await sleep(drainMs)
  const memoryBytes = await sampleMemory(contestant)
  const childMemoryBytes = await readChildMemoryBytes(contestant.listPids())
  const droppedByCameras = await load.countDropped()
  await contestant.stop()
  const tallies: FrameTally[] = []
  for (const [camera, first] of from.entries()) {
    tallies.push(tallyFrames(await contestant.readFrameNumbers(camera, startedMs), first, to[camera]!))
  }
  return { ...usage, memoryBytes, childMemoryBytes, droppedByCameras, frames: addTallies(tallies) }
}

async function waitForPlayers(contestant: Contestant, load: LoadCameras): Promise<void> {
  const deadlineMs = performance.now() + startTimeoutMs
  while (true) {
    const players = await load.countPlayers()
    const missing = players.filter((count) => count === 0).length
    if (missing === 0) return
    if (performance.now() > deadlineMs) {
      throw new Error(`${contestant.title}: ${missing} of ${players.length} cameras are not being received`)
    }
    await sleep(200)
  }
}

async function measure(contestant: Contestant, load: LoadCameras, measuredMs: number) {
  const read = async () => ({
    atMs: performance.now(),
    ownMs: await readCpuMs(contestant.listPids()),
    camerasMs: await readCpuMs([load.pid]),
    benchMs: await readCpuMs([process.pid]),
    busyMs: await readBusyMs(),
  })
  const before = await read()
  await sleep(measuredMs)
  const after = await read()
  const elapsedMs = after.atMs - before.atMs
  const percent = (key: 'ownMs' | 'camerasMs' | 'benchMs' | 'busyMs') => (100 * (after[key] - before[key])) / elapsedMs
  return {
    cpuPercentPerCamera: percent('ownMs') / load.urls.length,
    camerasCpuPercent: percent('camerasMs'),
    // All of these are descendants of the bench.
    foreignCpuPercent: Math.max(0, percent('busyMs') - percent('benchMs')),
  }
}

async function sampleMemory(contestant: Contestant): Promise<number> {
  const samples: number[] = []
  for (let i = 0; i < memorySamples; i++) {
    samples.push(await readMemoryBytes(contestant.listPids()))
    await sleep(1000)
  }
  return median(samples)
}
