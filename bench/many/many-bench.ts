// As many cameras as a small machine is asked to take, recorded at full size: is every picture in the files, and does the thread that
// answers people ever stand still? How and why: docs/design/benchmarks.md.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openServer, type ServerProcess } from '../../test/server-under-test.ts'
import type { Bench } from '../bench.ts'
import { addTallies, type FrameTally, readFrameNumbers, tallyFrames } from '../ingest/frame-tally.ts'
import { type LoadCameras, openLoadCameras } from '../ingest/load-cameras.ts'
import { readBusyMs, readCpuMs, readMemoryBytes } from '../process-usage.ts'
import { describeMachine, type Report, type Target, writeNumber } from '../report.ts'
import { percentile } from '../statistics.ts'

const startTimeoutMs = 120_000
/** Compilers have compiled, first files are open, snapshots of all cameras are made. */
const settleMs = 20_000
const sampleMs = 1000
/** For what is on its way when the measured time ends. */
const drainMs = 2000

export const manyBench: Bench = {
  name: 'many',
  summary: 'records many cameras at once: frames lost, and how long the main thread was ever blocked',
  help: `npm run bench -- many [options]

  --cameras N   cameras of 2 Mbit/s, 1280×720, 25 frames/s  [300]
  --seconds N   measured time; each needs 250 KB of disk per camera  [120]
  --json        prints one JSON object and nothing else`,
  defaults: { cameras: 300, seconds: 120 },
  async run({ cameras, seconds, say }) {
    say(`Encoding the clip that ${cameras} cameras send …`)
    await using load = await openLoadCameras(cameras)
    await using server = await openServer('--log-level', 'warn')
    const from = await load.countSent()
    say(`Adding ${cameras} cameras …`)
    const ids = await addCameras(server, load.urls)
    await waitForPlayers(load)
    await sleep(settleMs)
    say(`Recording for ${seconds} s …`)
    const measured = await measure(server, load, seconds * 1000)
    const to = await load.countSent()
    await sleep(drainMs)
    const droppedByCameras = await load.countDropped()
    const code = await server.stop()
    if (code !== 0) throw new Error(`the server ended with code ${code}:\n${server.log()}`)
    say('Counting pictures …')
    const tallies: FrameTally[] = []
    for (const [camera, first] of from.entries()) {
      const folder = join(server.dataDir, 'archive', 'cameras', String(ids[camera]))
      tallies.push(tallyFrames(await readFrameNumbers(folder), first, to[camera]!))
    }
    const warnings = server.log()
    if (warnings) say(`The server warned:\n${warnings}`)
    return createReport({ ...measured, cameras, seconds, droppedByCameras, frames: addTallies(tallies), warnings })
  },
}

/** Through the interface: a command for each would take minutes. */
async function addCameras(server: ServerProcess, urls: readonly string[]): Promise<number[]> {
  const ids: number[] = []
  for (const [index, url] of urls.entries()) {
    const body = { name: `Load ${index}`, url, type: 'h264' }
    const added = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })
    if (added.status !== 201) throw new Error(`camera ${index} was not added: ${added.status} ${added.text}`)
    const path = `/v1/cameras/${added.json.id}/recording/`
    const { status, text } = await server.request(path, { method: 'POST', body: { retention: 'P1D' } })
    if (status !== 201) throw new Error(`camera ${index} is not recorded: ${status} ${text}`)
    ids.push(added.json.id)
  }
  return ids
}

async function waitForPlayers(load: LoadCameras): Promise<void> {
  const deadlineMs = performance.now() + startTimeoutMs
  for (;;) {
    const missing = (await load.countPlayers()).filter((count) => count === 0).length
    if (missing === 0) return
    if (performance.now() > deadlineMs) throw new Error(`${missing} of ${load.urls.length} cameras are not received`)
    await sleep(200)
  }
}

type Measured = {
  /** Of each second: how long the main thread was blocked at most. */
  readonly mainBlockedMs: readonly number[]
  /** The same of the media workers, as they last said. */
  readonly workerBlockedMs: readonly number[]
  /** Of one core. */
  readonly cpuPercent: number
  readonly camerasCpuPercent: number
  readonly foreignCpuPercent: number
  readonly memoryBytes: number
}

async function measure(server: ServerProcess, load: LoadCameras, durationMs: number): Promise<Measured> {
  const read = async () => ({
    atMs: performance.now(),
    ownMs: await readCpuMs([server.pid]),
    camerasMs: await readCpuMs([load.pid]),
    benchMs: await readCpuMs([process.pid]),
    busyMs: await readBusyMs(),
  })
  // What was before is not measured: each answer begins a new measurement.
  await readDelays(server)
  const before = await read()
  const mainBlockedMs: number[] = []
  const workerBlockedMs: number[] = []
  while (performance.now() - before.atMs < durationMs) {
    await sleep(sampleMs)
    const { mainMs, workerMs } = await readDelays(server)
    mainBlockedMs.push(mainMs)
    workerBlockedMs.push(workerMs)
  }
  const after = await read()
  const elapsedMs = after.atMs - before.atMs
  const percent = (key: 'ownMs' | 'camerasMs' | 'benchMs' | 'busyMs') => (100 * (after[key] - before[key])) / elapsedMs
  return {
    mainBlockedMs,
    workerBlockedMs,
    cpuPercent: percent('ownMs'),
    camerasCpuPercent: percent('camerasMs'),
    // The server and the cameras are descendants of the bench.
    foreignCpuPercent: Math.max(0, percent('busyMs') - percent('benchMs')),
    memoryBytes: await readMemoryBytes([server.pid]),
  }
}

async function readDelays(server: ServerProcess): Promise<{ mainMs: number; workerMs: number }> {
  const { text } = await server.request('/metrics')
  const read = (name: string) => {
    const value = Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    if (Number.isNaN(value)) throw new Error(`the metrics have no ${name}`)
    return value * 1000
  }
  return {
    mainMs: read('nightjar_nodejs_eventloop_lag_max_seconds'),
    workerMs: read('nightjar_worker_loop_delay_seconds'),
  }
}

type Findings = Measured & {
  readonly cameras: number
  readonly seconds: number
  readonly droppedByCameras: number
  readonly frames: FrameTally
  readonly warnings: string
}

function createReport(found: Findings): Report {
  const { cameras, seconds, frames, mainBlockedMs, workerBlockedMs } = found
  const targets: readonly Target[] = [
    { key: 'framesLost', title: 'frames lost', value: frames.lost, limit: 0, kind: 'at most' },
    {
      key: 'mainBlockedMs',
      title: 'main thread blocked, longest, ms',
      value: Math.max(...mainBlockedMs),
      limit: 50,
      kind: 'at most',
    },
  ]
  return {
    name: 'many',
    title: `${cameras} cameras recorded at once`,
    setting: [
      `${cameras} cameras of 2 Mbit/s, 1280×720, 25 frames/s (one fake camera process on the same machine), all recorded by one server for ${seconds} s, ` +
        'measured once all are online and the snapshot of each is made.',
      `Measured on ${describeMachine()}.`,
    ],
    tables: [
      {
        head: ['', 'measured'],
        rows: [
          ['frames sent', writeNumber(frames.expected)],
          ['frames written', writeNumber(frames.written)],
          ['frames lost', writeNumber(frames.lost)],
          ['… of them not sent by the cameras, as nobody took them', writeNumber(found.droppedByCameras)],
          ['main thread blocked, longest in a second, ms, median', writeNumber(percentile(mainBlockedMs, 50))],
          ['… 99 % of the seconds', writeNumber(percentile(mainBlockedMs, 99))],
          ['… worst', writeNumber(Math.max(...mainBlockedMs))],
          ['media worker blocked, worst, ms', writeNumber(Math.max(...workerBlockedMs))],
          ['CPU of the server, % of a core', writeNumber(found.cpuPercent)],
          ['CPU of the cameras, % of a core', writeNumber(found.camerasCpuPercent)],
          ['memory of the server, MB', writeNumber(found.memoryBytes / 1e6)],
        ],
      },
    ],
    targets,
    notes: [
      'Frames: every picture carries its number; sent = from the first recorded of each camera to the last sent in the measured time. Blocked: the longest time ' +
        'between two turns of the event loop, which includes the 10 ms its timer waits anyway (20 ms for the media worker).',
      `Meanwhile other programs, the cameras not among them, used ${writeNumber(found.foreignCpuPercent)} % of a core.`,
    ],
    details: { ...found, mainBlockedMs: undefined, workerBlockedMs: undefined },
  }
}
