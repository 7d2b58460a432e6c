// Ours beside a bare Fastify that sends the same bytes over the same TLS, asked in turns. How and why: docs/design/benchmarks.md.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, openServer, type ServerProcess } from '../../test/server-under-test.ts'
import type { Bench } from '../bench.ts'
import { openLoadCameras } from '../ingest/load-cameras.ts'
import { describeMachine, type Report, type Target, writeNumber } from '../report.ts'
import { median } from '../statistics.ts'
import { type BareAnswer, type BareServer, openBareServer } from './bare-server.ts'
import { openLoadGenerator } from './load-generator.ts'
import { addEvents, eventCount, reportEvents } from './many-events.ts'
import { connections, type Measured, measureIdleShare, measureRequests, type Subject } from './measure-requests.ts'

const cameraCount = 20
/** Of somebody else, who shows them to the user whose requests are measured. */
const sharedCount = 100
/** Small pictures: the cameras are here to be listed. */
const picture = { width: 320, height: 180, framesPerSecond: 5, bitsPerSecond: 100_000 }
const turnCount = 7
/** Until start-up work is over. */
const settleMs = 5000

const paths = {
  me: '/v1/me/',
  list: `/v1/cameras/?limit=${cameraCount}`,
  shared: `/v1/shared-cameras/?limit=${sharedCount}`,
  events: '/v1/events/?limit=100',
  /** The same list, while it changes. */
  changingEvents: '/v1/events/?limit=100&offset=0',
} as const
/** While `changingEvents` is asked for. */
const newEventsPerSecond = 10

type PathName = keyof typeof paths

export const apiBench: Bench = {
  name: 'api',
  summary: 'asks Nightjar and a bare Fastify for the same answers: requests per second',
  help: `npm run bench -- api [options]

  --seconds N   measured time of each turn; there are ${turnCount} of each server for each of ${Object.keys(paths).length} paths  [5]
  --json        prints one JSON object and nothing else`,
  defaults: { seconds: 5 },
  async run({ seconds, say }) {
    say(`Starting a server with ${cameraCount} cameras, and ${sharedCount} that are shared …`)
    await using load = await openLoadCameras(cameraCount, picture)
    await using server = await openServer('--log-level', 'warn', '--rate-limit', '10000000')
    await addCameras(server, load.urls)
    say(`Adding ${writeNumber(eventCount)} events …`)
    await addEvents(server)
    await shareCameras(server, load.urls)
    await sleep(settleMs)
    const answers = await Promise.all(Object.values(paths).map((path) => captureAnswer(server, path)))
    const tls = join(server.dataDir, 'tls')
    const [key, cert] = await Promise.all(['key.pem', 'cert.pem'].map((name) => readFile(join(tls, name), 'utf8')))
    const routes = [...new Map(answers.map((answer) => [answer.path, answer])).values()]
    using bare = await openBareServer({ key: key!, cert: cert! }, routes)
    using generator = openLoadGenerator()
    const subjects = await createSubjects(server, bare)
    const results = Object.fromEntries(
      pathNames.map((path) => [path, { nightjar: [], bare: [] }]),
    ) as unknown as Results
    for (let turn = 1; turn <= turnCount; turn++) {
      say(`Turn ${turn} of ${turnCount} …`)
      for (const path of pathNames) {
        for (const subject of subjectNames) {
          const options = { path: paths[path], measuredMs: seconds * 1000 }
          const isChanging = path === 'changingEvents' && subject === 'nightjar'
          using _reporter = isChanging ? reportEvents(server, 1, newEventsPerSecond) : undefined
          results[path][subject].push(await measureRequests(generator, subjects[subject], options))
        }
      }
    }
    return createReport(results, answers, seconds)
  },
}

type SubjectName = 'nightjar' | 'bare'
type Results = Record<PathName, Record<SubjectName, Measured[]>>

/** They are online and send while requests are measured: their state, and so the answer, stays the same. */
async function addCameras(server: ServerProcess, urls: readonly string[]): Promise<void> {
  for (const [index, url] of urls.entries()) {
    await server.command('camera', 'add', '--user', 'owner@example.com', '--name', `Camera ${index + 1}`, '--url', url)
  }
  await waitForPictures(server, 'list', urls.length)
}

/** A second player of each of the same cameras, and a third, and so on: to the server, cameras of another user. */
async function shareCameras(server: ServerProcess, urls: readonly string[]): Promise<void> {
  // An owner of the server, who may add any number of cameras at once.
  await server.command('user', 'add', '--email', 'sharer@example.com', '--owner', '--password', 'correct horse')
  const { token } = await server.command<{ token: string }>('token', 'create', '--user', 'sharer@example.com')
  const post = async (path: string, body: object) => {
    const authorization = `PersonalAccessToken ${token}`
    const { status, text, json } = await server.request<{ id: number }>(path, { method: 'POST', authorization, body })
    if (status !== 201) throw new Error(`${path}: expected 201, got ${status}: ${text}`)
    return json
  }
  for (let i = 0; i < sharedCount; i++) {
    const { id } = await post('/v1/cameras/', { name: `Shared ${i + 1}`, url: urls[i % urls.length], type: 'h264' })
    await post(`/v1/cameras/${id}/guests/`, { email: 'owner@example.com', permissions: { can_view_rec: true } })
    // Whoever has looked at one camera may be shown more than three a day.
    await server.request(`/v1/shared-cameras/${id}/`)
  }
  await waitForPictures(server, 'shared', sharedCount)
}

async function waitForPictures(server: ServerProcess, path: PathName, count: number): Promise<void> {
  type Cameras = { results: { status: string; snapshot: unknown }[] }
  await eventually('all cameras online, with a picture', 120_000, async () => {
    const { json } = await server.request<Cameras>(paths[path])
    return (
      json.results.length === count &&
      json.results.every(({ status, snapshot }) => status === 'online' && snapshot !== null)
    )
  })
}

/** What the service answers, with the headers that are its own and not the connection's. */
async function captureAnswer(server: ServerProcess, path: string): Promise<BareAnswer> {
  const { status, headers, text } = await server.request(path)
  if (status !== 200) throw new Error(`${path}: expected 200, got ${status}: ${text}`)
  const own = Object.entries(headers).filter(([name]) => !connectionHeaders.has(name))
  return { path: path.split('?')[0]!, headers: Object.fromEntries(own) as Record<string, string>, body: text }
}

/** Made anew by every server; Content-Length follows from the body. */
const connectionHeaders: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive', 'content-length'])

async function createSubjects(server: ServerProcess, bare: BareServer): Promise<Record<SubjectName, Subject>> {
  const create = async (pid: number, port: number): Promise<Subject> => ({
    pid,
    port,
    ca: server.ca,
    authorization: `PersonalAccessToken ${server.token}`,
    idleShare: await measureIdleShare(pid),
  })
  return {
    nightjar: await create(server.pid, Number(new URL(server.url).port)),
    bare: await create(bare.pid, bare.port),
  }
}

const limits = { me: 0.9, list: 0.8 } as const

const pathNames = Object.keys(paths) as PathName[]
/** Their ratios are printed, and have nothing to meet. */
const withoutLimit = pathNames.filter((path) => !(path in limits))
const subjectNames = ['nightjar', 'bare'] as const
const titles: Record<SubjectName, string> = { nightjar: 'Nightjar', bare: 'bare Fastify' }
const describePath = (path: PathName) =>
  path === 'changingEvents' ? `\`${paths.events}\` (${newEventsPerSecond} new ones a second)` : `\`${paths[path]}\``
const columns = [
  ['requestsPerSecond', 'requests/s'],
  ['p50Ms', 'p50, ms'],
  ['p99Ms', 'p99, ms'],
  ['cpuMicros', 'CPU per request, µs'],
  ['serverCpuPercent', 'server busy, %'],
  ['generatorCpuPercent', 'generator busy, %'],
] as const

function createReport(results: Results, answers: readonly BareAnswer[], seconds: number): Report {
  const middle = (path: PathName, subject: SubjectName, value: (typeof columns)[number][0]) =>
    median(results[path][subject].map((each) => each[value]))
  const row = (path: PathName, subject: SubjectName) => [
    `${describePath(path)} ${titles[subject]}`,
    ...columns.map(([value]) => writeNumber(middle(path, subject, value))),
  ]
  // Of turns that follow each other: what disturbs for longer than a turn disturbs both.
  const pairs = (path: PathName, ratio: (ours: Measured, bare: Measured) => number) =>
    median(results[path].nightjar.map((ours, turn) => ratio(ours, results[path].bare[turn]!)))
  const speedRatio = (path: PathName) => pairs(path, (ours, bare) => ours.requestsPerSecond / bare.requestsPerSecond)
  const cpuRatio = (path: PathName) => pairs(path, (ours, bare) => bare.cpuMicros / ours.cpuMicros)
  const ratios = (value: (path: PathName) => number, suffix: string, of = pathNames) =>
    Object.fromEntries(of.map((path) => [`${path}${suffix}`, value(path)]))
  const bytes = Object.fromEntries(pathNames.map((path, i) => [path, Buffer.byteLength(answers[i]!.body)]))
  const tls = getOnlyTls(results)
  return {
    name: 'api',
    title: 'Requests, beside a bare Fastify',
    setting: [
      `${connections} connections that are kept (HTTP/1.1, ${tls}), each with one request on its way, from a load generator in a ` +
        `process of its own; ${turnCount} turns of ${seconds} s for each server and path, in alternation; medians, ratios of neighbouring turns. Nightjar: one user, a ` +
        `personal access token, ${cameraCount} cameras that are online and send, ${sharedCount} of another user, ${writeNumber(eventCount)} events of the last year. Bare Fastify: a process with routes that write ` +
        'the same headers and body, taken from Nightjar before, straight to the response: no authentication, no data, no limits.',
      `Measured on ${describeMachine()}.`,
    ],
    tables: [
      {
        head: ['', ...columns.map(([, title]) => title)],
        rows: pathNames.flatMap((path) => subjectNames.map((subject) => row(path, subject))),
      },
      {
        head: ['Nightjar ÷ bare Fastify', 'requests/s', 'by CPU per request', 'body, bytes'],
        rows: pathNames.map((path) => [
          describePath(path),
          ...[speedRatio(path), cpuRatio(path), bytes[path]!].map(writeNumber),
        ]),
      },
    ],
    targets: (['me', 'list'] as const).map((path): Target => {
      const title = `requests/s of ${describePath(path)}, Nightjar ÷ bare Fastify`
      return { key: `${path}Ratio`, title, value: speedRatio(path), limit: limits[path], kind: 'at least' }
    }),
    notes: [
      'Other programs disturb CPU time less than speed. CPU per request is of the whole server process, over what it uses without requests (its cameras).',
    ],
    details: {
      ...ratios(speedRatio, 'Ratio', withoutLimit),
      ...ratios(cpuRatio, 'CpuRatio'),
      ...{ seconds, connections, tls, bytes, results },
    },
  }
}

/** Throws when the servers did not agree on the same TLS with the generator. */
function getOnlyTls(results: Results): string {
  const all = new Set(
    Object.values(results).flatMap(({ nightjar, bare }) => [...nightjar, ...bare].map(({ tls }) => tls)),
  )
  const [only, ...others] = all
  if (only === undefined || others.length > 0) throw new Error(`expected one kind of TLS, got ${[...all].join('; ')}`)
  return only
}
