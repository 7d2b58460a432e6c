// What it costs to play and to download what was recorded, and whether viewers disturb recording. How and why:
// docs/design/benchmarks.md.

import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../test/fake-camera/scene/random.ts'
import { parsePlaylist } from '../../test/playback/parse-playlist.ts'
import { openServer, type ServerUnderTest } from '../../test/server-under-test.ts'
import { fillArchive, type Generated } from '../archive/generate-archive.ts'
import { openTimedClient, type TimedClient } from '../archive/timed-client.ts'
import type { Bench } from '../bench.ts'
import { addTallies, tallyFrames } from '../ingest/frame-tally.ts'
import { openLoadCameras } from '../ingest/load-cameras.ts'
import { NightjarContestant } from '../ingest/nightjar-contestant.ts'
import { readCpuMs } from '../process-usage.ts'
import { describeMachine, type Report, writeNumber } from '../report.ts'
import { median, percentile } from '../statistics.ts'
import { openFileServer } from './file-server.ts'

const defaultCameras = 100
const moments = 300
const warmUps = 200
const downloads = 30
const downloadMs = 3 * 60_000
const layoutMs = 3 * 3_600_000
const days = 2
const viewers = 50
const viewerSeconds = 40

export const playbackBench: Bench = {
  name: 'playback',
  summary: 'plays, downloads and lays out recordings, beside a plain file server, and while cameras are recorded',
  help: `npm run bench -- playback [options]

  --cameras N  how many are recorded while ${viewers} viewers play  [${defaultCameras}]
  --json       prints one JSON object and nothing else`,
  defaults: { cameras: defaultCameras },
  async run({ cameras, say }) {
    const alone = await measureAlone(say)
    say(`${viewers} viewers beside ${cameras} cameras …`)
    const beside = await measureBeside(cameras)
    return createReport({ ...alone, ...beside, cameras })
  },
}

type Sending = { readonly bytes: number; readonly cpuMs: number; readonly tookMs: number }

type Alone = {
  readonly firstByteMs: readonly number[]
  readonly firstByteCpuMs: number
  readonly own: readonly Sending[]
  readonly peer: readonly Sending[]
  readonly layoutMs: readonly number[]
  readonly layoutAgainMs: readonly number[]
  readonly playlistMs: readonly number[]
}

async function measureAlone(say: (text: string) => void): Promise<Alone> {
  await using server = await openServer('--log-level', 'warn', '--rate-limit', '0', '--min-free', '0')
  const doomed = { cameras: 0, lengthMs: 0 }
  const { ids, generated } = await fillArchive(server, { cameras: 1, days, doomed, say })
  await server.start()
  using client = openTimedClient(server.ca)
  const target: Target = { server, client, cameraId: ids[0]!, generated, random: createRandom(1) }

  say('Random moments …')
  for (let i = 0; i < warmUps; i++) await playMoment(target)
  const cpuMs = await readCpuMs([server.pid])
  const firstByteMs: number[] = []
  for (let i = 0; i < moments; i++) firstByteMs.push(await playMoment(target))
  const firstByteCpuMs = ((await readCpuMs([server.pid])) - cpuMs) / moments

  say('Playlists of a day …')
  const playlistMs: number[] = []
  for (let i = 0; i < 20; i++) {
    const url = await createStream(target, 86_400_000)
    playlistMs.push((await client.get(url)).totalMs)
  }

  say('Downloads …')
  const sample = await client.get(toDownload(await createStream(target, downloadMs)))
  const file = join(server.dataDir, 'download.mp4')
  await writeFile(file, sample.body)
  const tls = join(server.dataDir, 'tls')
  const [key, cert] = await Promise.all(['key.pem', 'cert.pem'].map((name) => readFile(join(tls, name), 'utf8')))
  using peer = await openFileServer({ key: key!, cert: cert! }, file)
  const own: Sending[] = []
  const peers: Sending[] = []
  // In turn, so that both meet the same noise.
  for (let i = 0; i < downloads; i++) {
    const url = toDownload(await createStream(target, downloadMs))
    own.push(await measureSending(server.pid, server.ca, url))
    peers.push(await measureSending(peer.pid, server.ca, peer.url))
  }

  say('Layouts of three hours …')
  const layout: number[] = []
  const layoutAgain: number[] = []
  for (const times of [layout, layoutAgain]) {
    for (let fromMs = generated.startMs; fromMs + layoutMs <= generated.endMs; fromMs += layoutMs) {
      const answer = await client.get(toDownload(await createStream(target, layoutMs, fromMs)), { range: 'bytes=0-0' })
      if (answer.status !== 206) throw new Error(`expected a download, got ${answer.status} ${answer.body}`)
      times.push(answer.firstByteMs)
    }
  }
  return { firstByteMs, firstByteCpuMs, own, peer: peers, layoutMs: layout, layoutAgainMs: layoutAgain, playlistMs }
}

type Target = {
  readonly server: ServerUnderTest
  readonly client: TimedClient
  readonly cameraId: number
  readonly generated: Generated
  readonly random: () => number
}

/** From nothing to the first byte of the first entry at a random moment, with three requests. */
async function playMoment(target: Target): Promise<number> {
  const begunMs = performance.now()
  const url = await createStream(target, 10 * 60_000)
  const { entries } = parsePlaylist((await target.client.get(url)).body.toString())
  const { uri, offset, bytes } = entries[0]!
  const askedMs = performance.now()
  const range = `bytes=${offset}-${offset + bytes - 1}`
  const answer = await target.client.count(new URL(uri, url).href, { range })
  if (answer.bytes !== bytes) throw new Error(`expected ${bytes} bytes, got ${answer.bytes} with ${answer.status}`)
  return askedMs - begunMs + answer.firstByteMs
}

/** From `fromMs` or a random moment. Returns the URL of its playlist. */
async function createStream(target: Target, lengthMs: number, wantedMs?: number): Promise<string> {
  const { server, client, cameraId, generated, random } = target
  const { startMs, endMs } = generated
  const fromMs = wantedMs ?? Math.floor((startMs + random() * (endMs - startMs - lengthMs)) / 1000) * 1000
  const time = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')
  const path = `/v1/cameras/${cameraId}/recording/stream/?start=${time(fromMs)}&end=${time(fromMs + lengthMs)}`
  const answer = await client.get(new URL(path, server.url).href, {
    authorization: `PersonalAccessToken ${server.token}`,
  })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`)
  return (JSON.parse(answer.body.toString()) as { url: string }).url
}

const toDownload = (playlistUrl: string) => playlistUrl.replace('hls/playlist.m3u8', 'download.mp4')

async function measureSending(pid: number, ca: string, url: string): Promise<Sending> {
  const cpuMs = await readCpuMs([pid])
  const begunMs = performance.now()
  const bytes = await new Promise<number>((resolve, reject) => {
    const outgoing = request(url, { ca, agent: false }, (response) => {
      let total = 0
      response.on('data', (chunk: Buffer) => {
        total += chunk.length
      })
      response.on('end', () => resolve(total))
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
  return { bytes, tookMs: performance.now() - begunMs, cpuMs: (await readCpuMs([pid])) - cpuMs }
}

type Beside = { readonly framesLost: number; readonly framesExpected: number; readonly entriesPlayed: number }

/** Viewers play what the cameras recorded a moment ago, at normal speed, while these are recorded. */
async function measureBeside(cameras: number): Promise<Beside> {
  await using load = await openLoadCameras(cameras)
  await using nightjar = await NightjarContestant.open()
  const startedMs = Date.now()
  await nightjar.addCameras(load.urls)
  while ((await load.countPlayers()).includes(0)) await sleep(500)
  await sleep(10_000)
  const from = await load.countSent()
  const { server, cameraIds } = nightjar
  using client = openTimedClient(server.ca)
  const endMs = performance.now() + viewerSeconds * 1000
  let entriesPlayed = 0
  const view = async (viewer: number): Promise<void> => {
    await sleep(viewer * 100)
    const start = new Date(Date.now() - 8000).toISOString().replace(/\.\d+Z/, 'Z')
    const { json } = await server.request<{ url: string }>(
      `/v1/cameras/${cameraIds[viewer % cameraIds.length]}/recording/stream/?start=${start}`,
    )
    const seen = new Set<string>()
    while (performance.now() < endMs) {
      const { entries } = parsePlaylist((await client.get(json.url)).body.toString())
      for (const { uri, offset, bytes } of entries) {
        if (seen.has(`${uri} ${offset}`)) continue
        seen.add(`${uri} ${offset}`)
        const range = `bytes=${offset}-${offset + bytes - 1}`
        const { body } = await client.get(new URL(uri, json.url).href, { range })
        if (body.length !== bytes) throw new Error(`expected ${bytes} bytes, got ${body.length}`)
        entriesPlayed++
      }
      await sleep(2000)
    }
  }
  await Promise.all(Array.from({ length: viewers }, (_, viewer) => view(viewer)))
  const to = await load.countSent()
  await sleep(2000)
  await nightjar.stop()
  const tallies = []
  for (const [camera, first] of from.entries()) {
    tallies.push(tallyFrames(await nightjar.readFrameNumbers(camera, startedMs), first, to[camera]!))
  }
  const { lost, expected } = addTallies(tallies)
  return { framesLost: lost, framesExpected: expected, entriesPlayed }
}

function createReport(found: Alone & Beside & { readonly cameras: number }): Report {
  const { firstByteMs, firstByteCpuMs, own, peer, layoutMs, playlistMs, framesLost, framesExpected } = found
  const perGB = (sent: readonly Sending[]) =>
    sent.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1000 / (sent.reduce((sum, { bytes }) => sum + bytes, 0) / 1e9)
  const rate = ({ bytes, tookMs }: Sending) => bytes / 1e6 / (tookMs / 1000)
  const line = (title: string, values: readonly number[]) => [
    title,
    ...[50, 95].map((percent) => writeNumber(percentile(values, percent))),
    writeNumber(values.length),
  ]
  const sending = (title: string, sent: readonly Sending[]) => [
    title,
    writeNumber(perGB(sent)),
    writeNumber(median(sent.map(rate))),
    writeNumber(sent.length),
  ]
  const atMost = (key: string, title: string, value: number, limit: number) =>
    ({ key, title, value, limit, kind: 'at most' }) as const
  return {
    name: 'playback',
    title: 'Playback and downloads',
    setting: [
      `One camera of 2 Mbit/s, 25 frames/s, a key frame a second, ${days} days in files of a minute. The real server; one client on kept ` +
        'connections (TLS, HTTP/1.1). A random moment is a fresh recorded stream, its playlist, and its first entry. The plain server is ' +
        'Node alone, which sends one file of the same size from one buffer.',
      `Measured on ${describeMachine()}.`,
    ],
    tables: [
      {
        head: ['milliseconds, as the client sees them', '50 %', '95 %', 'number'],
        rows: [
          line('random moment to first media byte', firstByteMs),
          line('first byte of a download of three hours', layoutMs),
          line('the same again', found.layoutAgainMs),
          line('playlist of a day', playlistMs),
        ],
      },
      {
        head: ['download of three minutes', 'CPU s/GB', 'MB/s', 'number'],
        rows: [sending('Nightjar', own), sending('plain server', peer)],
      },
    ],
    targets: [
      atMost('firstByteP50Ms', 'random moment to first media byte, median, ms', percentile(firstByteMs, 50), 4),
      atMost('firstByteP95Ms', 'the same, p95, ms', percentile(firstByteMs, 95), 10),
      atMost('downloadCpuSecondsPerGB', 'CPU of the server for a download, s/GB', perGB(own), 1.2),
      atMost('layoutMs', 'first byte of a download of three hours, median, ms', median(layoutMs), 50),
      atMost('playlistMs', 'playlist of a day, median, ms', median(playlistMs), 50),
      atMost('framesLost', `frames lost of ${found.cameras} cameras, while ${viewers} viewers play`, framesLost, 0),
    ],
    notes: [
      `A random moment costs the server ${writeNumber(firstByteCpuMs)} ms of CPU. ${writeNumber(framesExpected)} frames were to be recorded ` +
        `while ${viewers} viewers played ${writeNumber(found.entriesPlayed)} entries.`,
    ],
    details: { downloadMBps: Math.round(median(own.map(rate))), plainMBps: Math.round(median(peer.map(rate))) },
  }
}
