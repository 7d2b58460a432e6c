import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryApi } from '../../test/support/api/temporary-api.ts'
import { AppError } from '../base/error.ts'
import type { ServerReport } from './deps.ts'

const report = (): ServerReport => ({
  version: '1.2.3',
  startedAtMs: Date.UTC(2026, 6, 1, 12),
  database: 'sqlite',
  mail: 'smtp',
  mailsWaiting: 2,
  mailProblem: 'set mail-from',
  workers: { count: 2, running: 1, restarts: 4 },
  isolation: {
    level: 'partial',
    inForce: ['memory', 'permission_model'],
    missing: ['network', 'files', 'processes', 'system_calls', 'threads', 'privileges'],
    reason: 'bubblewrap (bwrap) is not installed',
    advice: undefined,
  },
})

test('T20: how the server is doing is for its owners', async (t) => {
  const { api, store, addUser, addCamera } = await openTemporaryApi(t, { report })
  const owner = await addUser('owner@example.com')
  const user = await addUser('user@example.com')
  const cameras = [await addCamera(owner.userId), await addCamera(user.userId), await addCamera(user.userId, 'Yard')]
  for (const id of cameras) await store.recordings.enable(id, { retention: 'P7D', maxBytes: null })
  await store.recordings.setStatus(cameras[0]!, 'RECORDING', undefined)
  await store.recordings.setStatus(cameras[1]!, 'ERROR', 'The disk is full.')
  await store.recordings.disable(cameras[2]!)
  for (let i = 0; i < 5; i++) cameras.push(await addCamera(owner.userId, `Camera ${i}`))
  for (const id of cameras.slice(0, 2)) await store.cameras.setStatus(id, { status: 'online' })
  const offline = { status: 'offline', code: 'x', detail: 'x' } as const
  await store.cameras.setStatus(cameras[2]!, { ...offline, reason: 'auth_failed' })
  for (const id of cameras.slice(3, 6)) await store.cameras.setStatus(id, { ...offline, reason: 'camera_unreachable' })
  const ask = (authorization?: string) =>
    api.server.inject({ url: '/v1/server/', headers: authorization === undefined ? {} : { authorization } })
  const answer = await ask(owner.authorization)
  assert.equal(answer.statusCode, 200)
  assert.deepEqual(answer.json(), {
    version: '1.2.3',
    started_at: '2026-07-01T12:00:00Z',
    database: 'sqlite',
    mail: 'smtp',
    mails_waiting: 2,
    mail_problem: 'set mail-from',
    has_own_authority: true,
    cameras: {
      count: 8,
      online: 2,
      offline: 4,
      unknown: 2,
      offline_reasons: [
        { reason: 'camera_unreachable', count: 3 },
        { reason: 'auth_failed', count: 1 },
      ],
    },
    recordings: { count: 2, recording: 1, failing: 1 },
    workers: { count: 2, running: 1, restarts: 4 },
    servers: [],
    decoder_isolation: {
      level: 'partial',
      in_force: ['memory', 'permission_model'],
      missing: ['network', 'files', 'processes', 'system_calls', 'threads', 'privileges'],
      reason: 'bubblewrap (bwrap) is not installed',
      advice: null,
    },
  })
  assert.equal((await ask(user.authorization)).statusCode, 403)
  assert.equal((await ask()).statusCode, 401)
  const events = await addUser('events@example.com', ['event_access'])
  assert.equal((await ask(events.authorization)).statusCode, 403)
})

test('an owner sends a test email to the own address, and is told what the mail server says', async (t) => {
  const sent: string[] = []
  let refusal: AppError | undefined
  const sendTestMail = async (to: string) => {
    sent.push(to)
    if (refusal) throw refusal
  }
  const { api, addUser } = await openTemporaryApi(t, { sendTestMail })
  const owner = await addUser('owner@example.com')
  const user = await addUser('user@example.com')
  const ask = async (authorization: string) => {
    const answer = await api.server.inject({ method: 'POST', url: '/v1/server/test-mail/', headers: { authorization } })
    return [answer.statusCode, answer.json()]
  }
  assert.deepEqual(await ask(owner.authorization), [200, { to: 'owner@example.com', sent: true, problem: null }])
  refusal = new AppError('unavailable', 'the mail server is away')
  const problem = 'the mail server is away'
  assert.deepEqual(await ask(owner.authorization), [200, { to: 'owner@example.com', sent: false, problem }])
  assert.equal((await ask(user.authorization))[0], 403)
  assert.deepEqual(sent, ['owner@example.com', 'owner@example.com'])
})
