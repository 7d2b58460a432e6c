// The balancer of docs/guide/cluster.md in front of three servers: the main job without stickiness, with a program of others,
// a replica that is promoted in the middle, and servers that end.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request as httpsRequest } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import * as openid from 'openid-client'
import type { Camera } from '../../contract/camera.ts'
import type { RecordedStream, Timeline } from '../../contract/recording.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openAnsweringServer, openServerHere, ownerEmail } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'
import { testPostgres } from './each-database.ts'
import { openGuideBalancer } from './guide-balancer.ts'
import { findPostgres, TemporaryPostgres } from './temporary-postgres.ts'

type Answer = {
  readonly status: number
  readonly headers: Record<string, string>
  readonly bytes: Buffer
  json<T>(): T
}

testPostgres('three servers behind HAProxy do the main job, and what ends is not missed', async (t) => {
  const postgres = await TemporaryPostgres.open(findPostgres()!)
  t.after(() => postgres.close())
  const balancer = await openGuideBalancer()
  t.after(() => balancer[Symbol.asyncDispose]())
  const { port, url, ca: cert } = balancer
  const [n1, n2, n3] = balancer.servers.map(({ port }) => port)
  const peerPort = await findOwnPort()
  const { pathname: name } = new URL(await postgres.createDatabase())
  const replica = await postgres.openReplica()
  t.after(() => replica.close())
  process.env.NIGHTJAR_DATABASE = `postgres://tester:${postgres.password}@127.0.0.1:${postgres.port},127.0.0.1:${replica.port}${name}`
  t.after(() => delete process.env.NIGHTJAR_DATABASE)
  await using source = await openFakeCamera({ streams: [{ name: 'a', width: 320, height: 180, gopFrames: 15 }] })
  const common = ['--behind-proxy', '--rate-limit', '0']
  const own = ['--node-name', 'n1', '--peer-address', `127.0.0.1:${peerPort}`, '--port', String(n1)]
  await using first = await openServerHere(...common, ...own, '--public-url', url)
  await using second = await openAnsweringServer(first, ...common, '--node-name', 'n2', '--port', String(n2))
  await using _third = await openAnsweringServer(first, ...common, '--node-name', 'n3', '--port', String(n3))
  balancer.start()
  const authorization = `PersonalAccessToken ${first.token}`
  /** Each on a connection of its own. */
  const ask = async (path: string, { method = 'GET', body, headers = {} }: Ask = {}): Promise<Answer> => {
    const agent = new Agent({ keepAlive: false })
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const options = { host: 'localhost', family: 4, port, path, method, agent, ca: cert }
    const outgoing = httpsRequest({ ...options, headers: { authorization, ...type, ...headers } })
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = await once(outgoing, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    return { status: response.statusCode, headers: response.headers, bytes, json: () => JSON.parse(bytes.toString()) }
  }
  const pathOf = (link: string) => new URL(link).pathname + new URL(link).search
  await eventually(
    'the balancer answers',
    10_000,
    async () => (await ask('/healthz').catch(() => undefined))?.status === 200,
  )

  const body = { name: 'Door', url: source.url('a'), type: 'h264' }
  const created = await ask('/v1/cameras/', { method: 'POST', body })
  assert.equal(created.status, 201, created.bytes.toString())
  const path = `/v1/cameras/${created.json<Camera>().id}/`
  assert.equal((await ask(`${path}recording/`, { method: 'POST', body: { retention: 'P1D' } })).status, 201)
  const range = () => {
    const time = (ms: number) => new Date(ms).toISOString()
    return `start=${time(Date.now() - 600_000)}&end=${time(Date.now() + 10_000)}`
  }
  const findStart = async () => (await ask(`${path}recording/timeline/?${range()}`)).json<Timeline>().segments[0]?.start
  const start = await eventually('footage', 20_000, findStart)
  const stream = (await ask(`${path}recording/stream/?start=${start}`)).json<RecordedStream>()
  const playlist = await eventually('a playlist with parts', 20_000, async () => {
    const { status, bytes } = await ask(pathOf(stream.url))
    return status === 200 && /\.mp4|\.m4s/.test(bytes.toString()) && bytes.toString()
  })
  const part = playlist.split('\n').find((line) => line !== '' && !line.startsWith('#'))!
  assert.equal((await ask(pathOf(new URL(part, stream.url).href))).status, 200)
  const camera = (await ask(path)).json<Camera>()
  for (let i = 0; i < 6; i++) {
    const image = await ask(pathOf(camera.live_snapshot), { headers: { authorization: '' } })
    assert.deepEqual([image.status, image.headers['content-type']], [200, 'image/jpeg'])
  }
  const made = await first.command<{ id: number; token: string }>('token', 'create', '--user', ownerEmail)
  const headers = { authorization: `PersonalAccessToken ${made.token}` }
  for (let i = 0; i < 6; i++) assert.equal((await ask('/v1/me/', { headers })).status, 200)
  await first.command('token', 'revoke', String(made.id))
  await eventually('the token works nowhere', 5000, async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask('/v1/me/', { headers })))
    return answers.every(({ status }) => status === 401)
  })

  // A program that knows nothing of servers, before and after a replica is promoted.
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, cert])
  t.after(() => setDefaultCACertificates(before))
  const app = await first.command<{ client_id: string; client_secret: string }>(
    ...['app', 'add', '--user', ownerEmail, '--name', 'Doorbell', '--redirect-uris', 'https://app.example/cb'],
  )
  const secret = openid.ClientSecretPost(app.client_secret)
  const program = await openid.discovery(new URL(url), app.client_id, undefined, secret, { algorithm: 'oauth2' })
  const login = { username: ownerEmail, password: 'correct horse', scope: 'read write' }
  const granted = await openid.genericGrantRequest(program, 'password', login)
  const statusOf = async (token: string) =>
    (await ask('/v1/me/', { headers: { authorization: `Bearer ${token}` } })).status
  assert.equal(await statusOf(granted.access_token), 200)
  await eventually('the replica has everything', 10_000, () => replica.follows(postgres))
  await postgres.stop('immediate')
  await replica.query('select pg_promote()')
  await eventually('all three answer', 20_000, async () => {
    const answers = await Promise.all(Array.from({ length: 9 }, () => ask(path)))
    return answers.every(({ status }) => status === 200)
  })
  for (let i = 0; i < 6; i++) assert.equal((await ask('/v1/me/', { headers })).status, 401, 'revoked before')
  const refreshed = await openid.refreshTokenGrant(program, granted.refresh_token!)
  assert.deepEqual([await statusOf(granted.access_token), await statusOf(refreshed.access_token)], [401, 200])
  await openid.tokenRevocation(program, refreshed.refresh_token!)
  await eventually('the grant works nowhere', 5000, async () => {
    const statuses = await Promise.all(Array.from({ length: 6 }, () => statusOf(refreshed.access_token)))
    return statuses.every((status) => status === 401)
  })
  await eventually('footage of the whole time', 20_000, async () => {
    const { segments, gaps } = (await ask(`${path}recording/timeline/?${range()}`)).json<Timeline>()
    assert.deepEqual(gaps, [])
    return Date.parse(segments.at(-1)!.end) > Date.now() - 5000
  })
  assert.equal((await ask(pathOf(stream.url))).status, 200)

  // A server that only answers ends while requests come all the time.
  const statuses = new Set<number>()
  let isEnding = true
  const asking = (async () => {
    while (isEnding) statuses.add((await ask(path)).status)
  })()
  await second.stop()
  isEnding = false
  await asking
  for (let i = 0; i < 6; i++) statuses.add((await ask(path)).status)
  assert.deepEqual([...statuses], [200])

  // The server with the cameras ends.
  await first.stop()
  await eventually('the other one answers', 10_000, async () => (await ask(path)).status === 200)
  const away = await ask(`${path}statistics/`)
  assert.deepEqual([away.status, away.headers['retry-after']], [503, '5'])
})

type Ask = { readonly method?: string; readonly body?: unknown; readonly headers?: Record<string, string> }
