import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import { silentLogger } from '../../base/log.ts'
import { Sessions } from './sessions.ts'

const context = { ip: '192.0.2.7', userAgent: 'Browser/1.0' }
const hourMs = 3_600_000
const dayMs = 24 * hourMs

async function openSessions(t: TestContext, database: TestDatabase, options: { ageLimitMs?: number } = {}) {
  let nowMs = Date.UTC(2026, 0, 1)
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: () => new Promise<void>((resolve) => setImmediate(resolve)),
  }
  const { store } = await database.openStore(t, { clock })
  const user = await store.users.insert({
    email: 'ada@example.org',
    firstName: 'Ada',
    lastName: 'L',
    passwordHash: '!',
  })
  const sessions = new Sessions({ rows: store.sessions, clock, log: silentLogger, ...options })
  return { store, sessions, user, userId: user.id, pass: (ms: number) => void (nowMs += ms) }
}

/** Returns the Cookie header that the browser sends back. */
const headerOf = (cookie: string) => cookie.split(';')[0]!

testEachDatabase(
  'T26: the cookie is restricted to this host and TLS, and scripts cannot read it',
  async (t, database) => {
    const { sessions, user } = await openSessions(t, database)
    const { cookie } = await sessions.start(user, context)
    assert.match(cookie, /^__Host-session=[\w-]{43}; Max-Age=2592000; Path=\/; Secure; HttpOnly; SameSite=Lax$/)
  },
)

testEachDatabase('a session is found only by its cookie, which is not stored', async (t, database) => {
  const { store, sessions, user, userId } = await openSessions(t, database)
  const { cookie, id } = await sessions.start(user, context)
  const session = await sessions.find(`other=1; ${headerOf(cookie)}; last=2`)
  assert.equal(session?.userId, userId)
  assert.equal(session.id, id)
  assert.equal(session.ip, context.ip)
  assert.ok(session.isFormToken(session.formToken))
  assert.ok(!session.isFormToken(`${session.formToken.slice(0, -1)}~`))
  assert.ok(!session.isFormToken(''))
  for (const header of [undefined, '', '__Host-session=', `__Host-session=${id}`, headerOf(cookie).slice(0, -1)]) {
    assert.equal(await sessions.find(header), undefined)
  }
  assert.ok(!JSON.stringify(await store.sessions.list(userId)).includes(headerOf(cookie).split('=')[1]!))
})

testEachDatabase('a session ends 14 days after its last use and 30 days after its start', async (t, database) => {
  const { sessions, user, userId, pass } = await openSessions(t, database)
  const idle = headerOf((await sessions.start(user, context)).cookie)
  const used = headerOf((await sessions.start(user, context)).cookie)
  for (let day = 0; day < 28; day += 7) {
    pass(7 * dayMs)
    assert.ok(await sessions.find(used), `day ${day + 7}`)
    if (day === 7) assert.equal(await sessions.find(idle), undefined)
  }
  assert.equal((await sessions.list(userId)).length, 1)
  pass(2 * dayMs - 1)
  assert.ok(await sessions.find(used))
  pass(1)
  assert.equal(await sessions.find(used), undefined)
  assert.deepEqual(await sessions.list(userId), [])
})

testEachDatabase('expired sessions are removed, and valid ones are not', async (t, database) => {
  const { store, sessions, user, userId, pass } = await openSessions(t, database)
  await sessions.start(user, context)
  pass(10 * dayMs)
  await sessions.start(user, context)
  pass(4 * dayMs)
  const stopping = new AbortController()
  const running = sessions.run(stopping.signal)
  setImmediate(() => stopping.abort())
  await running
  assert.equal((await store.sessions.list(userId)).length, 1)
})

testEachDatabase(
  'entering the password again renews the cookie, but does not extend the session',
  async (t, database) => {
    const { sessions, user, pass } = await openSessions(t, database)
    const old = headerOf((await sessions.start(user, context)).cookie)
    pass(10 * 60_000)
    const session = (await sessions.find(old))!
    assert.equal(sessions.hasRecentProof(session), false)
    const { cookie } = await sessions.renew(session)
    assert.match(cookie, /Max-Age=2591400;/)
    assert.equal(await sessions.find(old), undefined)
    const renewed = (await sessions.find(headerOf(cookie)))!
    assert.equal(renewed.id, session.id)
    assert.equal(renewed.createdAtMs, session.createdAtMs)
    assert.ok(sessions.hasRecentProof(renewed))
    assert.notEqual(renewed.formToken, session.formToken)
    await sessions.end(renewed)
    await assert.rejects(sessions.renew(renewed), { kind: 'not_found' })
  },
)

testEachDatabase(
  'sessions can be ended one by one, all except one, all, and with their account',
  async (t, database) => {
    const { store, sessions, user, userId } = await openSessions(t, database)
    const other = await store.users.insert({ email: 'b@example.org', firstName: 'B', lastName: '', passwordHash: '!' })
    const start = async (of = user) => {
      const { cookie, id: sessionId } = await sessions.start(of, context)
      return { header: headerOf(cookie), id: sessionId }
    }
    const [a, b, c, foreign] = [await start(), await start(), await start(), await start(other)]
    await assert.rejects(sessions.revoke(other.id, a.id), { kind: 'not_found' })
    await sessions.revoke(userId, a.id)
    assert.equal(await sessions.find(a.header), undefined)
    await assert.rejects(sessions.revoke(userId, a.id), { kind: 'not_found' })
    await sessions.endAllOfUser(userId, b.id)
    assert.equal(await sessions.find(c.header), undefined)
    const kept = await sessions.find(b.header)
    assert.match((await sessions.end(kept!)).cookie, /^__Host-session=; Max-Age=0;/)
    assert.equal(await sessions.find(b.header), undefined)
    assert.ok(await sessions.find(foreign.header))
    await store.accounts.change(other.id, { isDisabled: true })
    assert.equal(await sessions.find(foreign.header), undefined)
  },
)

testEachDatabase('after two simultaneous renewals, the session has exactly one valid cookie', async (t, database) => {
  const { sessions, user } = await openSessions(t, database)
  const session = (await sessions.find(headerOf((await sessions.start(user, context)).cookie)))!
  const renewed = await Promise.all([sessions.renew(session), sessions.renew(session)])
  const found = await Promise.all(renewed.map(({ cookie }) => sessions.find(headerOf(cookie))))
  assert.equal(found.filter((one) => one?.id === session.id).length, 1)
})

testEachDatabase(
  'without a maximum age, a session in use continues, and its cookie lasts as long as browsers allow',
  async (t, database) => {
    const { sessions, user, userId, pass } = await openSessions(t, database, { ageLimitMs: Number.POSITIVE_INFINITY })
    const { cookie } = await sessions.start(user, context)
    assert.match(cookie, /Max-Age=34560000;/)
    for (let day = 0; day < 390; day += 13) {
      pass(13 * dayMs)
      assert.ok(await sessions.find(headerOf(cookie)), `day ${day + 13}`)
    }
    const stopping = new AbortController()
    const running = sessions.run(stopping.signal)
    setImmediate(() => stopping.abort())
    await running
    assert.equal((await sessions.list(userId)).length, 1)
    pass(14 * dayMs)
    assert.equal(await sessions.find(headerOf(cookie)), undefined)
  },
)
