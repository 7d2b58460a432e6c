// What several servers of one database cost: requests for each second of CPU, live view through another server, and how soon
// what is revoked works nowhere; and how soon cameras of a server that ends are recorded by others. How and why: docs/design/benchmarks.md.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Camera } from '../../contract/camera.ts'
import { findFreePort } from '../../server/base/free-port.ts'
import { openFakeCamera } from '../../test/fake-camera/fake-camera.ts'
import { findPostgres, TemporaryPostgres } from '../../test/postgres/temporary-postgres.ts'
import {
  eventually,
  openAnsweringProcess,
  openServerWith,
  ownerEmail,
  type ServerProcess,
} from '../../test/server-under-test.ts'
import { openLoadGenerator } from '../api/load-generator.ts'
import { measureIdleShare, measureRequests } from '../api/measure-requests.ts'
import type { Bench } from '../bench.ts'
import { readCpuMs } from '../process-usage.ts'
import { describeMachine, type Report, writeNumber } from '../report.ts'
import { median, percentile } from '../statistics.ts'
import { type Failover, measureFailover } from './failover.ts'

const revocations = 100
const viewers = 10

export const clusterBench: Bench = {
  name: 'cluster',
  summary: 'several servers of one database: requests, live view through another server, revocation, failover',
  help: `npm run bench -- cluster [options]

  --seconds N  of each measurement (default 10)
  --json       prints one JSON object and nothing else`,
  defaults: { seconds: 10 },
  async run({ seconds, say }) {
    const bin = findPostgres()
    if (bin === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
    await using held = new AsyncDisposableStack()
    const postgres = await TemporaryPostgres.open(bin)
    held.defer(() => postgres.close())
    const opened = held.use(new AsyncDisposableStack())
    const database = await postgres.createDatabase()
    process.env.NIGHTJAR_DATABASE = database
    const peerPort = await findFreePort('127.0.0.1')
    const common = ['--log-level', 'warn', '--rate-limit', '0']
    const own = ['--node-name', 'n1', '--peer-address', `127.0.0.1:${peerPort}`]
    const first = opened.use(await openServerWith({}, ...common, ...own))
    const second = opened.use(await openAnsweringProcess(first, ...common, '--node-name', 'n2'))
    const third = opened.use(await openAnsweringProcess(first, ...common, '--node-name', 'n3'))
    const source = opened.use(
      await openFakeCamera({ streams: [{ name: 'a', width: 640, height: 360, framesPerSecond: 25, gopFrames: 25 }] }),
    )
    const id = await first.addCamera('Door', source.url('a'), '--record', 'P1D')
    const path = `/v1/cameras/${id}/`
    const camera = await eventually('the camera', 20_000, async () => {
      const { json } = await first.request<Camera>(path)
      return json.status === 'online' && json
    })
    say('Requests …')
    const requests = await measureThroughput([first, second, third], path, seconds)
    say('Live view …')
    // Counts what goes between the servers.
    const counter = opened.use(await openCounter(peerPort))
    await postgres.query(`update nodes set address = '127.0.0.1:${counter.port}' where name = 'n1'`, database)
    await sleep(3000)
    const live = await measureLive(first, second, camera, seconds)
    const many = await measureViewers(second, first, camera, counter, seconds)
    say('Revocation …')
    const revoked = await measureRevocation(first, second)
    await opened.disposeAsync()
    const failover = await measureFailover(postgres, say)
    return createReport({ requests, live, many, revoked, failover })
  },
}

/** For each number of servers: answers in a second of CPU of all of them. */
async function measureThroughput(servers: readonly ServerProcess[], path: string, seconds: number) {
  const rates: number[] = []
  for (let count = 1; count <= servers.length; count++) {
    using generators = new DisposableStack()
    const measured = await Promise.all(
      servers.slice(0, count).map(async (server) => {
        const generator = generators.use(openLoadGenerator())
        const subject = {
          ...{ pid: server.pid, port: Number(new URL(server.url).port), ca: server.ca },
          ...{ authorization: `PersonalAccessToken ${server.token}`, idleShare: await measureIdleShare(server.pid) },
        }
        return measureRequests(generator, subject, { path, measuredMs: seconds * 1000 })
      }),
    )
    const all = measured.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0)
    const cores = measured.reduce((sum, { serverCpuPercent }) => sum + serverCpuPercent / 100, 0)
    rates.push(all / cores)
  }
  return rates
}

/** How much later an image comes through the second server, milliseconds. */
async function measureLive(first: ServerProcess, second: ServerProcess, camera: Camera, seconds: number) {
  const url = new URL(camera.streams.find(({ format }) => format === 'mpegts')!.url)
  const times: Map<string, number>[] = []
  await Promise.all(
    [first, second].map(async (server, i) => {
      const seen = new Map<string, number>()
      times[i] = seen
      const { response, end } = await openStream(server, url)
      let rest = Buffer.alloc(0)
      response.on('data', (chunk: Buffer) => {
        const nowMs = performance.timeOrigin + performance.now()
        rest = Buffer.concat([rest, chunk])
        const whole = rest.length - (rest.length % 188)
        // Packets of 188 bytes; equal ones of both streams are found by their content.
        for (let at = 0; at < whole; at += 188) {
          const digest = createHash('sha1')
            .update(rest.subarray(at, at + 188))
            .digest('base64')
          if (!seen.has(digest)) seen.set(digest, nowMs)
        }
        rest = rest.subarray(whole)
      })
      await sleep(seconds * 1000)
      end()
    }),
  )
  const [direct, through] = times as [Map<string, number>, Map<string, number>]
  return [...through].filter(([digest]) => direct.has(digest)).map(([digest, ms]) => ms - direct.get(digest)!)
}

async function measureViewers(
  second: ServerProcess,
  first: ServerProcess,
  camera: Camera,
  counter: { bytes(): number },
  seconds: number,
) {
  const url = new URL(camera.streams.find(({ format }) => format === 'mp4')!.url)
  let received = 0
  const streams = await Promise.all(Array.from({ length: viewers }, () => openStream(second, url)))
  for (const { response } of streams) response.on('data', (chunk: Buffer) => void (received += chunk.length))
  await sleep(1000)
  const [bytes, receivedBefore, cpuSecond, cpuFirst] = [
    counter.bytes(),
    received,
    await readCpuMs([second.pid]),
    await readCpuMs([first.pid]),
  ]
  await sleep(seconds * 1000)
  const result = {
    bytesPerViewerSecond: (counter.bytes() - bytes) / viewers / seconds,
    overhead: (counter.bytes() - bytes) / (received - receivedBefore),
    cpuPercentPerViewer: ((await readCpuMs([second.pid])) - cpuSecond) / viewers / seconds / 10,
    cpuPercentPerViewerOfOwner: ((await readCpuMs([first.pid])) - cpuFirst) / viewers / seconds / 10,
  }
  for (const { end } of streams) end()
  return result
}

/** From the end of the command to the first refusal by the other server. */
async function measureRevocation(first: ServerProcess, second: ServerProcess): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < revocations; i++) {
    const made = await first.command<{ id: number; token: string }>('token', 'create', '--user', ownerEmail)
    const authorization = `PersonalAccessToken ${made.token}`
    if ((await second.request('/v1/me/', { authorization })).status !== 200) throw new Error('the token does not work')
    await first.command('token', 'revoke', String(made.id))
    const revokedMs = performance.now()
    while ((await second.request('/v1/me/', { authorization })).status === 200) await sleep(1)
    times.push(performance.now() - revokedMs)
  }
  return times
}

async function openStream({ ca, url }: ServerProcess, { pathname, search }: URL) {
  const outgoing = request(new URL(pathname + search, url), { ca, agent: false }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`the stream was answered with ${response.statusCode}`)
  outgoing.on('error', () => {})
  response.on('error', () => {})
  return { response, end: () => outgoing.destroy() }
}

/** Hands bytes on, and counts those of answers. */
async function openCounter(port: number) {
  let bytes = 0
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => {})
    upstream.on('data', (chunk) => void (bytes += chunk.length))
    client.pipe(upstream).pipe(client)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    bytes: () => bytes,
    [Symbol.dispose]: () => void server.close(),
  }
}

type Result = {
  readonly requests: readonly number[]
  readonly live: readonly number[]
  readonly many: Awaited<ReturnType<typeof measureViewers>>
  readonly revoked: readonly number[]
  readonly failover: Failover
}

function createReport({ requests, live, many, revoked, failover }: Result): Report {
  const [one = 0, , three = 0] = requests
  return {
    name: 'cluster',
    title: 'Several servers of one database',
    setting: [
      `Measured on ${describeMachine()}. PostgreSQL, one server with a camera of 640×360, 25 frames/s, and two that only answer, on one machine.`,
      `Requests: \`GET /v1/cameras/{id}/\` on 32 kept connections to each server, answers for each second of CPU of the servers. Live view: MPEG-TS of the same camera directly and through a server without cameras, how much later each packet comes. Viewers: ${viewers} of MP4 through that server. Revocation: ${revocations} tokens, from the end of the command to the first 401 of the other server. Failover: three servers share ${failover.cameras} cameras of 15 frames/s with key frames every 2 s; each server is killed once, and started again when all its cameras are recorded by others.`,
    ],
    tables: [
      {
        head: ['servers', 'answers for a second of CPU'],
        rows: requests.map((rate, i) => [String(i + 1), writeNumber(rate)]),
      },
      {
        head: ['through another server', '50 %', '95 %', 'number'],
        rows: [
          ['live view later by, ms', writeNumber(median(live)), writeNumber(percentile(live, 95)), String(live.length)],
          [
            'revoked after, ms',
            writeNumber(median(revoked)),
            writeNumber(percentile(revoked, 95)),
            String(revoked.length),
          ],
        ],
      },
      {
        head: ['a viewer of MP4 through another server', 'value'],
        rows: [
          ['bytes between the servers, kB/s', writeNumber(many.bytesPerViewerSecond / 1000)],
          ['… for each byte of the viewer', writeNumber(many.overhead)],
          ['CPU of the server that hands on, % of a core', writeNumber(many.cpuPercentPerViewer)],
          [
            'CPU of the server with the cameras, recording included, % of a core',
            writeNumber(many.cpuPercentPerViewerOfOwner),
          ],
        ],
      },
      {
        head: ['cameras of a server that was killed', 'value'],
        rows: [
          ['recorded again after, ms, 50 %', writeNumber(median(failover.timesMs))],
          ['… 95 %', writeNumber(percentile(failover.timesMs, 95))],
          ['… number', String(failover.timesMs.length)],
          [
            'frames lost for each of them, moves back included',
            writeNumber(failover.lostFrames / failover.timesMs.length),
          ],
        ],
      },
    ],
    targets: [
      {
        key: 'failoverP95Ms',
        title: 'end of a server to the first frame that another one records, 95 %, ms',
        value: percentile(failover.timesMs, 95),
        limit: 15_000,
        kind: 'at most',
      },
      {
        key: 'doubleFrames',
        title: 'frames that are recorded twice',
        value: failover.doubleFrames,
        limit: 0,
        kind: 'at most',
      },
      {
        key: 'peerLatencyMs',
        title: 'live view through another server, later by, 95 %, ms',
        value: percentile(live, 95),
        limit: 20,
        kind: 'at most',
      },
      {
        key: 'revocationP99Ms',
        title: 'revoked at one server, refused by the other, 99 %, ms',
        value: percentile(revoked, 99),
        limit: 1000,
        kind: 'at most',
      },
      {
        key: 'requestsPerCoreOfThree',
        title: 'answers for a second of CPU, three servers ÷ one',
        value: three / one,
        limit: 0.8,
        kind: 'at least',
      },
    ],
    notes: [],
    details: {
      requestsPerCpuSecond: requests.map(Math.round),
      peerLatencyP50Ms: median(live),
      bytesPerViewerSecond: many.bytesPerViewerSecond,
      bytesPerViewerByte: many.overhead,
      nodes: failover.nodes,
      lostFrames: failover.lostFrames,
    },
  }
}
