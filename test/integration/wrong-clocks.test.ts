// A machine starts with a wrong clock: in 1970, because it has no battery, or in 2069, because that is empty.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Recording, Timeline } from '../../contract/recording.ts'
import { databaseFile } from '../../server/store/engine/database-file.ts'
import { openServerClock } from '../audit/server-clock.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerWith, ownerEmail } from '../server-under-test.ts'

const stream = { name: 'yard', width: 320, height: 180, framesPerSecond: 10, gopFrames: 10 }

/** Undefined where the clock cannot be set. */
async function openScene(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-clock-'))
  t.after(() => rm(folder, { recursive: true }))
  const clock = await openServerClock(folder)
  if (!clock.canBeSet) {
    t.skip('libfaketime is not installed')
    return undefined
  }
  await clock.begin()
  const source = await openFakeCamera({ streams: [stream] })
  const server = await openServerWith(clock.environment, '--rate-limit', '0')
  t.after(async () => {
    await server[Symbol.asyncDispose]()
    await source[Symbol.asyncDispose]()
  })
  const beginMs = Date.now()
  const id = await server.addCamera('Yard', source.url('yard'), '--record', 'P30D')
  const timeline = async () => {
    const range = `start=${new Date(beginMs - 60_000).toISOString()}&end=${new Date(Date.now() + 60_000).toISOString()}`
    return (await server.request<Timeline>(`/v1/cameras/${id}/recording/timeline/?${range}`)).json
  }
  const recording = async () => (await server.request<Recording>(`/v1/cameras/${id}/recording/`)).json
  await eventually('it is recorded', 60_000, async () => (await timeline()).segments.length > 0)
  return { clock, server, id, timeline, recording, beginMs }
}

/** The timeline is in whole seconds, so that a segment may start up to a second before its first picture. */
const since = (segments: Timeline['segments'], ms: number) =>
  segments.filter(({ start }) => Date.parse(start) > ms - 1000)

/** What expires. */
function countRows(dataDir: string): Record<string, number> {
  using database = new DatabaseSync(databaseFile(dataDir), { readOnly: true })
  const count = (table: string) => (database.prepare(`select count(*) n from ${table}`).get() as { n: number }).n
  return Object.fromEntries(['oauth_grants', 'oauth_tokens', 'links'].map((table) => [table, count(table)]))
}

suite('a machine that starts with a wrong clock', { concurrency: true }, () => {
  test('footage of a boot in 1970 follows that of before, and a gap tells that the clock was set', async (t) => {
    const scene = await openScene(t)
    if (!scene) return
    const { clock, server, timeline, recording, beginMs } = scene
    const { ca } = server
    await server.stop()
    const stoppedMs = Date.now()
    await clock.set(-Date.now() + 60_000)
    await sleep(8000)
    await server.start()
    assert.match(server.log(), /the clock of this machine is wrong/)
    assert.equal(server.ca, ca, 'the certificate is not made anew')
    // The pause may be too short for a gap.
    const endMs = async () => Math.max(...(await timeline()).segments.map(({ end }) => Date.parse(end)))
    await eventually('it is recorded as if no time had passed', 60_000, async () => (await endMs()) > stoppedMs + 3000)
    assert.ok((await endMs()) < Date.now() - 5000)
    await clock.set(0)
    const setMs = Date.now()
    await eventually(
      'it is recorded at the right time',
      60_000,
      async () => since((await timeline()).segments, setMs).length > 0,
    )
    const { segments, gaps } = await timeline()
    assert.ok(
      gaps.some(({ reason, start }) => reason === 'clock_set' && Date.parse(start) > stoppedMs - 2000),
      JSON.stringify({ segments, gaps }),
    )
    const { recording_start } = (await recording()) as { recording_start?: string }
    if (recording_start) assert.ok(Date.parse(recording_start) > beginMs - 60_000, recording_start)
    assert.equal(server.ca, ca)
  })

  test('a boot in 2069 deletes neither grants and invitations nor footage, and the certificate stays', async (t) => {
    const scene = await openScene(t)
    if (!scene) return
    const { clock, server, timeline, id } = scene
    const app = await server.command<{ client_id: string; client_secret: string }>(
      'app',
      'add',
      '--name',
      'Old',
      '--user',
      ownerEmail,
    )
    const client = { client_id: app.client_id, client_secret: app.client_secret }
    const ask = async (form: Record<string, string>) => {
      const { status, json } = await server.request<{ refresh_token: string }>('/oauth/token/', {
        method: 'POST',
        form: { ...client, ...form },
        authorization: null,
      })
      return { status, ...json }
    }
    const granted = await ask({ grant_type: 'password', username: ownerEmail, password: 'correct horse' })
    assert.equal(granted.status, 200)
    const { ca } = server
    const before = (await timeline()).segments
    await server.request(`/v1/cameras/${id}/guests/`, { method: 'POST', body: { email: 'ada@example.org' } })
    // The link of an invitation is made after the answer.
    const counted = await eventually('all of them', 10_000, async () => {
      const rows = countRows(server.dataDir)
      return Object.values(rows).every((count) => count > 0) && rows
    })
    await server.stop()
    await clock.set(43 * 365 * 86_400_000)
    await server.start()
    assert.equal(server.ca, ca, 'the certificate is not made anew')
    // What has expired is removed at the start, and retention runs every ten seconds.
    await sleep(12_000)
    assert.deepEqual(countRows(server.dataDir), counted)
    await clock.set(0)
    const renewed = await eventually('the clock is right', 30_000, async () => {
      const answer = await ask({ grant_type: 'refresh_token', refresh_token: granted.refresh_token })
      return answer.status === 200 && answer
    })
    assert.ok(renewed.refresh_token)
    assert.equal((await timeline()).segments[0]!.start, before[0]!.start)
    assert.equal(server.ca, ca)
  })
})
