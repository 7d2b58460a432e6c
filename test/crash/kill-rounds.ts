// A server that records many cameras and is killed again and again at any moment, also while it starts: what is missing of each camera
// is counted by the numbers in its pictures, and index and files are compared after every restart.
//
// The fake cameras send only while somebody receives, so numbers that are missing were sent to a process that was killed.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkArchive, isClean } from '../../server/archive/check.ts'
import { findPlaces } from '../../server/archive/open-places.ts'
import { openSecretKey } from '../../server/auth/secret-key.ts'
import { systemClock } from '../../server/base/clock.ts'
import { databaseFile } from '../../server/store/engine/database-file.ts'
import { openStore } from '../../server/store/store.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { listFrameCounters } from '../fake-camera/frame-counter.ts'
import { createRandom } from '../fake-camera/scene/random.ts'
import { createLoadStreams } from '../fake-camera/source/stream-options.ts'
import { eventually, openServer, type ServerProcess } from '../server-under-test.ts'

export type KillOptions = {
  readonly kills: number
  readonly cameras: number
  readonly seed: number
  /** Tells a person who waits. */
  readonly say: (text: string) => void
}

export type KillReport = {
  /** While the server was running. Every camera was connected at each second one of them, the first included. */
  readonly kills: number
  /** Further kills, before the server was ready. */
  readonly killsWhileStarting: number
  readonly cameras: number
  readonly gopFrames: number
  readonly framesPerSecond: number
  /** Pictures missing of each camera for each kill that it was connected at. */
  readonly lost: readonly number[]
  /** Pictures missing elsewhere: in the middle of footage, or after a camera was connected again. */
  readonly holes: number
  readonly recorded: number
  /** Files that had to be looked at after a kill, with the reason. */
  readonly faults: readonly string[]
  /** From the start of the process to its announcement, with repairs, milliseconds. */
  readonly startMs: readonly number[]
}

const picture = { width: 320, height: 180, framesPerSecond: 12, gopFrames: 24, bitsPerSecond: 100_000 }
const maxRunMs = 6000
/** After one in so many kills, the server is killed again while it starts. */
const startingShare = 5
/** The server adds a file without a row only after it has been left alone for 10 s, and after what it repairs first. */
const maxChecks = 15

export async function runKillRounds({ kills, cameras, seed, say }: KillOptions): Promise<KillReport> {
  const random = createRandom(seed)
  const streams = createLoadStreams(cameras, picture)
  await using source = await openFakeCamera({ streams })
  await using server = await openServer('--log-level', 'warn', '--min-free', '0')
  const ids: number[] = []
  for (const { name } of streams) ids.push(await addCamera(server, name, source.url(name)))
  /** Numbers of the pictures that are sent next, after each kill. */
  const boundaries: number[][] = []
  const faults: string[] = []
  const startMs: number[] = []
  let killsWhileStarting = 0
  for (let kill = 1; kill <= kills; kill++) {
    const isAnyMoment = kill % 2 === 0
    if (!isAnyMoment) await eventually('all cameras are recorded', 60_000, async () => countPlayers(source) === cameras)
    await sleep(random() * maxRunMs)
    await server.kill()
    boundaries.push(await readBoundary(source))
    while (random() * startingShare < 1) {
      killsWhileStarting++
      await killWhileStarting(server, random() * 2000)
      boundaries.push(await readBoundary(source))
    }
    const begunMs = performance.now()
    await server.start()
    startMs.push(performance.now() - begunMs)
    faults.push(...(await findFaults(server, kill)))
    if (kill % 10 === 0 || kill === kills) say(`${kill} of ${kills} kills, ${faults.length} faults`)
  }
  await eventually('all cameras are recorded again', 60_000, async () => countPlayers(source) === cameras)
  await sleep(3000)
  await eventually('what kills left open is repaired', 60_000, async () => {
    const { json } = await server.request<{ repair?: unknown }>('/healthz', { authorization: null })
    return json.repair === undefined
  })
  const end = Object.values(source.stats().streams).map(({ framesSent }) => framesSent)
  if ((await server.stop()) !== 0) faults.push('the server did not stop as it should')
  faults.push(...(await findFinalFaults(server)))
  const counts = { lost: [] as number[], holes: 0, recorded: 0 }
  for (const [index, id] of ids.entries()) {
    const numbers = await readNumbers(join(server.dataDir, 'archive', 'cameras', String(id)))
    count(numbers, { boundaries: boundaries.map((of) => of[index]!), end: end[index]! }, counts)
  }
  const { framesPerSecond, gopFrames } = picture
  return { kills, killsWhileStarting, cameras, gopFrames, framesPerSecond, ...counts, faults, startMs }
}

async function addCamera(server: ServerProcess, name: string, url: string): Promise<number> {
  const added = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body: { name, url } })
  const { id } = added.json
  await server.request(`/v1/cameras/${id}/recording/`, { method: 'POST', body: { retention: 'P1D' } })
  return id
}

const countPlayers = (source: FakeCamera) =>
  Object.values(source.stats().streams).filter(({ players }) => players > 0).length

/** What each camera has sent when it has noticed that nobody is there. */
async function readBoundary(source: FakeCamera): Promise<number[]> {
  await eventually('the cameras notice', 10_000, async () => countPlayers(source) === 0)
  return Object.values(source.stats().streams).map(({ framesSent }) => framesSent)
}

async function killWhileStarting(server: ServerProcess, afterMs: number): Promise<void> {
  const starting = server.start().catch(() => {}) // it says that it was killed
  await sleep(afterMs)
  await server.kill()
  await starting
}

/** Checks beside the server that has just started, again until it has repaired what the kill left open. */
async function findFaults(server: ServerProcess, kill: number): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const report = await server
      .command<{ ok: boolean }>('check', '--deep')
      .catch((error: { stdout: string }) => ({ ok: false, report: error.stdout }))
    if (report.ok) return []
    if (attempt === maxChecks) return [`after kill ${kill}: ${JSON.stringify(report)}`]
    await sleep(2000)
  }
}

/** When nothing runs any more, and no file is too young to be minded. */
async function findFinalFaults({ dataDir }: ServerProcess): Promise<string[]> {
  const credentialsKey = (await openSecretKey(dataDir)).deriveKey('camera credentials')
  await using store = await openStore({ database: databaseFile(dataDir), credentialsKey, foreignIntervalMs: 0 })
  const clock = { ...systemClock, nowMs: () => Date.now() + 3_600_000 }
  const places = await findPlaces(store.places, [{ folder: join(dataDir, 'archive'), weight: 1 }])
  const report = await checkArchive({ rows: store.segments, places, clock, isDeep: true })
  const open = await store.segments.listOpen()
  const faults = open.map(({ path }) => `still open at the end: ${path}`)
  return isClean(report) ? faults : [...faults, `at the end: ${JSON.stringify(report)}`]
}

async function readNumbers(folder: string): Promise<Set<number>> {
  const numbers = new Set<number>()
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.mp4')) continue
    for (const { frameNumber } of listFrameCounters(await readFile(join(folder, name)))) numbers.add(frameNumber)
  }
  return numbers
}

type Counts = { lost: number[]; holes: number; recorded: number }

/** Of one camera: between two kills all is there from the first picture on, up to some before the second. */
function count(
  numbers: ReadonlySet<number>,
  { boundaries, end }: { readonly boundaries: readonly number[]; readonly end: number },
  counts: Counts,
): void {
  let from = 0
  for (const until of boundaries) {
    let newest = until - 1
    while (newest >= from && !numbers.has(newest)) newest--
    // A camera that was not connected has sent nothing that could be lost.
    if (until > from) counts.lost.push(until - 1 - newest)
    for (let number = from; number < newest; number++) if (!numbers.has(number)) counts.holes++
    from = until
  }
  // The end of the whole is no kill: what was sent while the server was closing is not counted.
  let newest = end - 1
  while (newest >= from && !numbers.has(newest)) newest--
  for (let number = from; number < newest; number++) if (!numbers.has(number)) counts.holes++
  counts.recorded += numbers.size
}
