// Events of the complete server: those that a device posts over HTTPS, and those that the server creates when a camera
// disconnects and reconnects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere } from '../server-under-test.ts'

type Event = {
  readonly id: number
  readonly category: string
  readonly source: string
  readonly title: string | null
  readonly occurred_at: string
  readonly data: Record<string, string | number>
}
type Listed = { readonly count: number; readonly results: Event[] }
type Gap = { readonly start: string; readonly end: string; readonly reason: string }

const outageSeconds = 6
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('a camera that disconnects and reconnects causes one event for each change and one for the gap', async () => {
  await using source = await openFakeCamera({ streams: [{ name: 'yard', width: 320, height: 180, gopFrames: 15 }] })
  await using server = await openServerHere('--outage-seconds', String(outageSeconds))
  const id = await server.addCamera('Yard', source.url('yard'), '--record', 'P1D')
  const listEvents = async () => (await server.request<Listed>(`/v1/events/${id}/`)).json.results
  const isRecording = async () => {
    const { json } = await server.request<{ status: string }>(`/v1/cameras/${id}/recording/`)
    return json.status === 'RECORDING'
  }
  await eventually('it is being recorded', 30_000, isRecording)
  await wait(2000)

  // A short disconnection of a second or two causes no event.
  source.faults.dropConnections()
  await wait(1000)
  await eventually('recording has resumed', 30_000, isRecording)
  await wait((outageSeconds + 2) * 1000)
  assert.deepEqual(await listEvents(), [])

  const wentMs = Date.now()
  await source.faults.refuseConnections(14_000)
  const [offline] = await eventually('the outage is reported', 60_000, async () => {
    const events = await listEvents()
    return events.length > 0 && events
  })
  assert.equal(offline!.category, 'camera_offline')
  const events = await eventually('its end is reported', 90_000, async () => {
    const events = await listEvents()
    return events.some(({ category }) => category === 'camera_online') && events
  })
  const backMs = Date.now()
  assert.deepEqual(events.map(({ category }) => category).sort(), ['camera_offline', 'camera_online', 'recording_gap'])
  assert.deepEqual(new Set(events.map(({ source }) => source)), new Set(['system']))
  const of = (category: string) => events.find((event) => event.category === category)!
  const [went, came, gap] = [of('camera_offline'), of('camera_online'), of('recording_gap')]
  assert.deepEqual(went, offline)
  assert.equal(went.data.reason, 'camera_unreachable')
  assert.equal(typeof went.data.detail, 'string')
  assert.ok(
    Math.abs(Date.parse(went.occurred_at) - wentMs) < 10_000,
    `${went.occurred_at}, cut off at ${new Date(wentMs).toISOString()}`,
  )
  assert.equal(came.data.offline_since, went.occurred_at)
  const cameMs = Date.parse(came.occurred_at)
  assert.ok(cameMs >= wentMs + 13_000 && cameMs <= backMs - (outageSeconds - 1) * 1000, came.occurred_at)
  const lastedMs = cameMs - Date.parse(went.occurred_at)
  assert.ok(Math.abs(Number(came.data.duration_seconds) * 1000 - lastedMs) <= 1000)

  // The event of the gap matches the timeline.
  assert.equal(gap.occurred_at, gap.data.end)
  const range = `start=${new Date(wentMs - 60_000).toISOString()}&end=${new Date().toISOString()}`
  const timeline = await server.request<{ gaps: Gap[] }>(`/v1/cameras/${id}/recording/timeline/?${range}`)
  const { gaps } = timeline.json
  assert.ok(
    gaps.some(
      ({ start, end, reason }) => start === gap.data.start && end === gap.data.end && reason === gap.data.reason,
    ),
    `${JSON.stringify(gap.data)} in ${JSON.stringify(gaps)}`,
  )
  assert.equal(gap.data.reason, 'camera_unreachable')

  // A long downtime of the server is a gap but not an outage of the camera.
  await server.stop()
  await wait((outageSeconds + 1) * 1000)
  await server.start()
  const [newest] = await eventually('the second gap is reported', 60_000, async () => {
    const events = await listEvents()
    return events.length > 3 && events
  })
  assert.deepEqual([newest!.category, newest!.data.reason], ['recording_gap', 'server_down'])
  await wait((outageSeconds + 2) * 1000)
  assert.equal((await listEvents()).length, 4)
})

test('an event that a device reports with a hash over HTTPS is listed on the command line', async () => {
  await using server = await openServerHere()
  const options = ['--user', 'owner@example.com', '--name', 'Door', '--url', 'rtsp://camera.invalid/1']
  const { id, event_api_hash: hash } = await server.command<{ id: number; event_api_hash: string }>(
    'camera',
    'add',
    ...options,
  )
  await eventually('the camera exists', 10_000, async () => (await server.request(`/v1/cameras/${id}/`)).status === 200)
  const report = (body: object) => server.request<Event>('/v1/events/', { method: 'POST', body, authorization: null })
  const reported = await report({ hash, title: 'Motion', category: 'motion' })
  assert.deepEqual([reported.status, reported.json.source], [201, 'device'])
  assert.equal((await report({ hash: hash.replace(/./g, '0') })).status, 401)
  assert.equal((await report({ camera: id })).status, 401)
  const ofProgram = await server.request('/v1/events/', { method: 'POST', body: { camera: id, title: 'Of a program' } })
  assert.equal(ofProgram.status, 201)
  const together = await Promise.all(Array.from({ length: 20 }, () => report({ hash })))
  const taken = together.filter(({ status }) => status === 201).length
  // What remains of ten, plus one for every six seconds that have passed.
  assert.ok(taken >= 9 && taken < 15, String(taken))
  const refused = together.find(({ status }) => status === 429)!
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  const listed = await server.command<{ count: number }>('event', 'list', '--camera', String(id))
  assert.equal(listed.count, 2 + taken)
  await server.command('event', 'add', String(id), '--title', 'From the command line')
  await eventually('the change by the command line takes effect', 10_000, async () => {
    const { json } = await server.request<Listed>('/v1/events/?limit=1')
    return json.count === 3 + taken && json.results[0]!.title === 'From the command line'
  })
  await server.command('camera', 'rotate-hash', String(id))
  await eventually('the old hash is rejected', 10_000, async () => (await report({ hash })).status === 401)
})
