// The complete server on PostgreSQL: changes on the command line take effect at once, and cameras are recorded while
// the database is unavailable.

import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Timeline } from '../../contract/recording.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer } from '../server-under-test.ts'
import { testPostgres } from './each-database.ts'

testPostgres('a server on PostgreSQL records through an outage of its database', async (t, postgres) => {
  await using source = await openFakeCamera({ streams: [{ name: 'a', width: 320, height: 180, gopFrames: 15 }] })
  process.env.NIGHTJAR_DATABASE = await postgres.createDatabase()
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
  await eventually('the token is refused', 500, async () => {
    return (await server.request('/v1/me/', { authorization })).status === 401
  })

  await postgres.stop('immediate')
  await eventually('the API is unavailable', 2000, async () => (await server.request('/v1/me/')).status === 503)
  await delay(3000)
  await postgres.start()
  await eventually('the API is back', 5000, async () => (await server.request('/v1/me/')).status === 200)
  await eventually('footage of the whole time', 20_000, isRecordedFor(8))
  assert.equal(await server.stop(), 0)
  await server.start()
  const { segments, gaps } = (await readTimeline()).json
  assert.ok(Date.parse(segments[0]!.end) - Date.parse(segments[0]!.start) >= 8000, JSON.stringify({ segments, gaps }))
  assert.ok(!server.log().includes(postgres.password), 'the password of the database is in the log')
})
