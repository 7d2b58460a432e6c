// The complete server on PostgreSQL: changes on the command line take effect at once, and cameras are recorded while
// the database is unavailable.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { Camera } from '../../contract/camera.ts'
import type { Event } from '../../contract/event.ts'
import type { Recording, Timeline } from '../../contract/recording.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { queryDatabase } from '../query-database.ts'
import { eventually, openServer } from '../server-under-test.ts'
import { testPostgres } from './each-database.ts'

testPostgres('a server on PostgreSQL records through an outage of its database', async (t, postgres) => {
  await using source = await openFakeCamera({ streams: [{ name: 'a', width: 320, height: 180, gopFrames: 15 }] })
  const database = await postgres.createDatabase()
  process.env.NIGHTJAR_DATABASE = database
  t.after(() => delete process.env.NIGHTJAR_DATABASE)
  await using server = await openServer()
  const owner = ['--user', 'owner@example.com']
  const adding = ['camera', 'add', ...owner, '--name', 'A', '--url', source.url('a'), '--record', 'P7D']
  const { id } = await server.command<{ id: number }>(...adding)
  const readTimeline = async () => {
    const time = (ms: number) => new Date(ms).toISOString()
    const query = `start=${time(Date.now() - 600_000)}&end=${time(Date.now() + 10_000)}`
    return server.request<Timeline>(`/v1/cameras/${id}/recording/timeline/?${query}`)
  }
  const isRecordedFor = (seconds: number) => async () => {
    const { status, json } = await readTimeline()
    if (status !== 200) return false
    const [segment] = json.segments
    return segment && Date.parse(segment.end) - Date.parse(segment.start) >= seconds * 1000
  }
  await eventually('footage', 20_000, isRecordedFor(2))

  const { token, ...made } = await server.command<{ id: number; token: string }>('token', 'create', ...owner)
  const authorization = `PersonalAccessToken ${token}`
  assert.equal((await server.request('/v1/me/', { authorization })).status, 200)
  await server.command('token', 'revoke', String(made.id))
  await eventually('the token is refused', 5000, async () => {
    return (await server.request('/v1/me/', { authorization })).status === 401
  })

  await postgres.stop('immediate')
  await eventually('the API is unavailable', 2000, async () => (await server.request('/v1/me/')).status === 503)
  await delay(3000)
  await postgres.start()
  await eventually('the API is back', 5000, async () => (await server.request('/v1/me/')).status === 200)
  await eventually('footage of the whole time', 20_000, isRecordedFor(8))
  assert.equal(await server.stop(), 0)
  // As if it had been off for an hour. Old data is deleted by a time of its own then.
  await postgres.query('update trusted_time set time_ms = time_ms - 3600000', database)
  await server.start()
  const { segments, gaps } = (await readTimeline()).json
  const stream = await server.request(`/v1/cameras/${id}/recording/stream/?start=${segments[0]!.start}`)
  assert.deepEqual([stream.status, server.log().match(/.*invalid input syntax.*/)?.[0]], [200, undefined])
  assert.ok(Date.parse(segments[0]!.end) - Date.parse(segments[0]!.start) >= 8000, JSON.stringify({ segments, gaps }))
  assert.ok(!server.log().includes(postgres.password), 'the password of the database is in the log')
})

/** Longer outages, for whoever wants to wait for them: the same is asserted. */
const outageSeconds = Number(process.env.NIGHTJAR_OUTAGE_SECONDS ?? 20)

testPostgres('what happens while the database is away is written once when it is back', async (t, postgres) => {
  const video = { width: 320, height: 180, gopFrames: 15, framesPerSecond: 15, loopSeconds: 4 }
  const source = await openFakeCamera({ streams: ['a', 'b'].map((name) => ({ name, ...video })) })
  t.after(() => source[Symbol.asyncDispose]())
  process.env.NIGHTJAR_DATABASE = await postgres.createDatabase()
  t.after(() => delete process.env.NIGHTJAR_DATABASE)
  await using server = await openServer('--outage-seconds', '2', '--min-free', '0')
  const [a = 0, b = 0] = await Promise.all(
    ['a', 'b'].map((name) => server.addCamera(name, source.url(name), '--record', 'P1D')),
  )
  const read = async <T>(path: string) => (await server.request<T>(`/v1/cameras/${path}`)).json
  await eventually('both are recorded', 30_000, async () => {
    const recordings = await Promise.all([a, b].map((id) => read<Recording>(`${id}/recording/`)))
    return recordings.every(({ status }) => status === 'RECORDING')
  })
  const camera = await read<Camera>(`${a}/`)
  const { port, pathname, search } = new URL(camera.streams.find(({ format }) => format === 'mp4')!.url)
  const live = httpsGet({ host: 'localhost', port, path: pathname + search, rejectUnauthorized: false })
  const [answer] = (await once(live, 'response')) as [IncomingMessage]
  t.after(() => live.destroy())
  const arrivals: number[] = []
  answer.on('data', () => arrivals.push(Date.now()))

  await postgres.stop('immediate')
  const awayMs = Date.now()
  await delay(3000)
  // One camera is lost meanwhile, and the other begins a new file.
  source.faults.answerWith(503, 'b')
  source.faults.dropConnections('b')
  await delay(outageSeconds * 1000 - 3000)
  const refused = await server.request('/v1/me/')
  assert.deepEqual([refused.status, refused.headers['retry-after'] !== undefined], [503, true])
  source.faults.dropConnections('a')
  const backMs = Date.now()
  await postgres.start()
  await eventually('the API is back', 5000, async () => (await server.request('/v1/me/')).status === 200)

  await eventually('the status', 5000, async () => {
    const [first, second] = await Promise.all([a, b].map((id) => read<Camera>(`${id}/`)))
    return first!.status === 'online' && second!.status === 'offline'
  })
  const listLost = async () => {
    const { json } = await server.request<{ results: Static<typeof Event>[] }>(`/v1/events/${b}/`)
    return json.results.filter(({ category }) => category === 'camera_offline')
  }
  await eventually('the event', 5000, async () => (await listLost()).length > 0)
  const [event, ...others] = await listLost()
  assert.deepEqual(others, [])
  const atMs = Date.parse(event!.occurred_at)
  assert.ok(atMs >= awayMs && atMs < backMs, event!.occurred_at)
  // The writes of one camera wait for half a minute at most between two attempts.
  const time = (ms: number) => new Date(ms).toISOString()
  const timeline = (id: number) =>
    read<Timeline>(`${id}/recording/timeline/?start=${time(awayMs - 60_000)}&end=${time(backMs)}`)
  const { gaps } = await eventually('footage of the whole outage', 60_000, async () => {
    const found = await timeline(a)
    return Date.parse(found.segments.at(-1)!.end) >= backMs - 3000 && found
  })
  const lostMs = gaps.reduce((sum, { start, end }) => sum + Date.parse(end) - Date.parse(start), 0)
  assert.ok(lostMs < (outageSeconds * 1000) / 2, JSON.stringify(gaps))
  const [gap] = (await timeline(b)).gaps.slice(-1)
  assert.equal(gap?.reason, (event!.data as { reason: string }).reason)
  assert.ok(Date.parse(gap!.start) >= awayMs && Date.parse(gap!.start) < backMs, gap!.start)
  const twice = await queryDatabase(
    { database: process.env.NIGHTJAR_DATABASE },
    'select path from segments group by place_id, path having count(*) > 1',
  )
  assert.deepEqual(twice, [])
  const during = arrivals.filter((ms) => ms > awayMs + 4000 && ms < backMs)
  assert.ok(during.length > outageSeconds / 2, `${during.length} parts of live video`)
  const check = await server.command<{ orphan_files: string[]; missing_files: string[] }>('check')
  assert.deepEqual([check.orphan_files, check.missing_files], [[], []])
})
