// Measures what good cameras lose beside hostile ones in a real server, and how late their images arrive. Also a
// program:
//   node test/hostile/hostile-run.ts [CAMERAS OF EACH] [SECONDS]     with and without the hostile ones

import { Agent, get } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { createLoadStreams } from '../fake-camera/source/stream-options.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'
import { openHostileCameras } from './hostile-cameras.ts'
import { readRecordedNumbers } from './read-recording.ts'

export type HostileRun = {
  /** For each good camera: the number of frames that should be recorded, how many of them are missing, and the gaps. */
  readonly good: readonly { readonly due: number; readonly missing: number; readonly gaps: readonly unknown[] }[]
  /** Response times of the good cameras' live images in milliseconds, ascending; and how many were refused. */
  readonly answersMs: readonly number[]
  /** The same for the first image of each camera, when all are requested at once and the decoder processes start. */
  readonly firstAnswersMs: readonly number[]
  readonly refused: number
  /** Recorded files of each hostile camera. */
  readonly hostile: readonly { readonly kind: string; readonly files: number }[]
  readonly workerDeaths: number
  readonly log: string
}

export type HostileRunOptions = { readonly good: number; readonly hostile: number; readonly seconds: number }

const video = { width: 480, height: 270, framesPerSecond: 25, bitsPerSecond: 300_000 }
const askMs = 500

export async function runBesideHostile({ good, hostile, seconds }: HostileRunOptions): Promise<HostileRun> {
  const streams = createLoadStreams(good, video)
  await using camera = await openFakeCamera({ streams })
  await using enemies = await openHostileCameras()
  await using server = await openServer('--log-level', 'warn', '--rate-limit', '0')
  const goodIds: number[] = []
  for (const { name } of streams) goodIds.push(await addCamera(server, { name, url: camera.url(name), type: 'h264' }))
  for (const id of goodIds) await eventually(`camera ${id} is recorded`, 30_000, () => isRecorded(server, id))
  const foes: { id: number; kind: string }[] = []
  for (let i = 0; i < hostile; i++) {
    const { kind, url, type } = enemies.cameras[i % enemies.cameras.length]!
    foes.push({ kind, id: await addCamera(server, { name: `${kind} ${i}`, url, type }) })
  }
  const sent = () => streams.map(({ name }) => camera.stats().streams[name]!.framesSent)
  const over = new AbortController()
  const first = sent()
  const asking = {
    good: goodIds.map((id, i) => requestImages(server, id, i * 25, over.signal)),
    foes: foes.map(({ id }, i) => requestImages(server, id, i * 25, over.signal)),
  }
  await sleep(seconds * 1000)
  const end = sent()
  over.abort()
  const results = await Promise.all(asking.good)
  await Promise.all(asking.foes)
  await sleep(3000) // what was sent last is on its way
  const gaps: unknown[][] = []
  for (const id of goodIds) gaps.push(await readGaps(server, id))
  await server.stop()
  const recorded = await Promise.all(goodIds.map((id) => readRecordedNumbers(server.dataDir, id)))
  return {
    good: goodIds.map((_, i) => {
      const numbers = new Set(recorded[i]!.numbers)
      let missing = 0
      for (let number = first[i]!; number < end[i]! - 1; number++) if (!numbers.has(number)) missing++
      return { due: end[i]! - 1 - first[i]!, missing, gaps: gaps[i]! }
    }),
    answersMs: results.flatMap(({ answersMs }) => answersMs).toSorted((a, b) => a - b),
    firstAnswersMs: results.flatMap(({ firstAnswerMs = [] }) => firstAnswerMs).toSorted((a, b) => a - b),
    refused: results.reduce((sum, { refused }) => sum + refused, 0),
    hostile: await Promise.all(
      foes.map(async ({ id, kind }) => ({ kind, files: (await readRecordedNumbers(server.dataDir, id)).files })),
    ),
    workerDeaths: server.log().split('a media worker crashed').length - 1,
    log: server.log(),
  }
}

async function addCamera(server: ServerUnderTest, body: { name: string; url: string; type: string }): Promise<number> {
  const added = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })
  if (added.status !== 201) throw new Error(added.text)
  const path = `/v1/cameras/${added.json.id}/recording/`
  const { status, text } = await server.request(path, { method: 'POST', body: { retention: 'P1D' } })
  if (status !== 201) throw new Error(text)
  return added.json.id
}

async function isRecorded(server: ServerUnderTest, id: number): Promise<boolean> {
  const { json } = await server.request<{ recording_start: string | null }>(`/v1/cameras/${id}/recording/`)
  return json.recording_start !== null
}

async function readGaps(server: ServerUnderTest, id: number): Promise<unknown[]> {
  const time = (ms: number) => new Date(ms).toISOString().replace(/\.\d+/, '')
  const query = `start=${time(Date.now() - 3_600_000)}&end=${time(Date.now())}`
  const { json } = await server.request<{ gaps: unknown[] }>(`/v1/cameras/${id}/recording/timeline/?${query}`)
  return json.gaps
}

/** Requests live images of a size that must be created, as a wall of cameras does. */
async function requestImages(server: ServerUnderTest, id: number, delayMs: number, signal: AbortSignal) {
  const answersMs: number[] = []
  let firstAnswerMs: number | undefined
  let refused = 0
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: server.ca })
  const { json } = await server.request<{ live_snapshot: string }>(`/v1/cameras/${id}/?max_width=160`)
  await sleep(delayMs)
  while (!signal.aborted) {
    const begunMs = performance.now()
    const status = await requestImage(json.live_snapshot, agent)
    const tookMs = performance.now() - begunMs
    if (status !== 200) refused++
    else if (firstAnswerMs === undefined) firstAnswerMs = tookMs
    else answersMs.push(tookMs)
    await sleep(Math.max(0, askMs - tookMs))
  }
  agent.destroy()
  return { answersMs, firstAnswerMs, refused }
}

function requestImage(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', reject)
    }).on('error', reject)
  })
}

if (import.meta.main) {
  const [cameras = 20, seconds = 60] = process.argv.slice(2).map(Number)
  for (const hostile of [0, cameras]) {
    const {
      good,
      answersMs,
      firstAnswersMs,
      refused,
      hostile: foes,
      workerDeaths,
      log,
    } = await runBesideHostile({
      ...{ good: cameras, hostile, seconds },
    })
    const at = (share: number) => Math.round(answersMs[Math.floor(answersMs.length * share)] ?? 0)
    const figures = {
      ...{ good: cameras, hostile, seconds, refused, workerDeaths },
      due: good.reduce((sum, { due }) => sum + due, 0),
      missing: good.reduce((sum, { missing }) => sum + missing, 0),
      gaps: good.reduce((sum, { gaps }) => sum + gaps.length, 0),
      frames: answersMs.length,
      ...{ p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), longestMs: Math.round(answersMs.at(-1) ?? 0) },
      longestOfFirstMs: Math.round(firstAnswersMs.at(-1) ?? 0),
      mostFiles: Math.max(0, ...foes.map(({ files }) => files)),
      logLines: log.split('\n').length,
    }
    process.stdout.write(`${JSON.stringify(figures)}\n`)
  }
}
