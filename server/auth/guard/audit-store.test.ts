import assert from 'node:assert/strict'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { silentLogger } from '../../base/log.ts'
import type { NewAuditRecord } from '../../store/accounts/audit.ts'
import { openStore } from '../../store/store.ts'
import { hashPassword } from '../password.ts'
import { Audit } from './audit.ts'
import { KnownDevices } from './known-devices.ts'
import { Login, type LoginOptions } from './login.ts'
import { PasswordQueue } from './password-queue.ts'

const record = (event: string, atMs: number, userId: number | null = null): NewAuditRecord => ({
  event,
  atMs,
  userId,
  subject: 'ada@example.com',
  ip: '2001:db8::1',
  userAgent: 'Test "1"\u{1f600}',
  detail: { tries: 2, via: 'page', 'is ünïcode': true, nul: '\0' },
})

testEachDatabase(
  'T44: the audit log lists events newest first, by user and page, and removes old ones',
  async (t, database) => {
    const { store } = await database.openStore(t)
    const at = Date.UTC(2030, 0, 1)
    await store.audit.insert([])
    await store.audit.insert([record('a', at, 1), record('b', at + 1, 2)])
    await store.audit.insert([record('c', at + 2, 1)])
    const all = await store.audit.list(undefined, { limit: 10, offset: 0 })
    assert.deepEqual(
      all.map(({ event }) => event),
      ['c', 'b', 'a'],
    )
    const { id, ...rest } = all[2]!
    assert.equal(typeof id, 'number')
    assert.deepEqual(rest, record('a', at, 1))
    const ofFirst = await store.audit.list(1, { limit: 1, offset: 1 })
    assert.deepEqual(
      ofFirst.map(({ event }) => event),
      ['a'],
    )
    assert.deepEqual([await store.audit.count(), await store.audit.count(1)], [3, 2])
    await store.audit.removeOld(at + 1, 100)
    assert.equal(await store.audit.count(), 2)
    await store.audit.removeOld(0, 1)
    assert.deepEqual(
      (await store.audit.list(undefined, { limit: 10, offset: 0 })).map(({ event }) => event),
      ['c'],
    )
  },
)

testEachDatabase('T4, T44: sign-ins with malformed email addresses fail and are audited', async (t, database) => {
  const { store } = await database.openStore(t)
  const clock = new TestClock()
  const audit = new Audit({ rows: store.audit, clock, log: silentLogger })
  const devices = new KnownDevices(new Uint8Array(32), clock)
  const users = store.users
  const login = new Login({
    users,
    failures: store.failures,
    passwords: new PasswordQueue(),
    devices,
    audit,
    clock,
    log: silentLogger,
  })
  const passwordHash = await hashPassword('correct horse battery')
  const user = await users.insert({ email: 'Ada@example.com', firstName: '', lastName: '', passwordHash })
  for (const email of [
    '\0',
    'a\0@example.com',
    '\ud800@example.com',
    '%',
    "'; drop table users",
    '',
    'x'.repeat(9999),
  ]) {
    const context = { ip: '192.0.2.1', userAgent: 'nul \0 \ud800' }
    assert.equal(await login.verify({ email, password: 'p\0', context }), undefined)
  }
  const context = { ip: '192.0.2.1', userAgent: undefined }
  const input = { email: 'ADA@example.com', password: 'correct horse battery', context }
  assert.equal((await login.verify(input))!.id, user.id)
  assert.equal(await users.replacePasswordHash(user.id, passwordHash, 'other'), true)
  assert.equal(await users.replacePasswordHash(user.id, passwordHash, 'again'), false)
  assert.equal(await login.verify(input), undefined)
  assert.equal((await audit.list(undefined, { limit: 100, offset: 0 })).length, 9)
})

testEachDatabase('T3: failed sign-ins count on every server, and after a restart', async (t, database) => {
  const { store, ...place } = await database.openStore(t)
  const clock = new TestClock()
  const passwordHash = await hashPassword('correct horse battery')
  const user = await store.users.insert({ email: 'ada@example.com', firstName: '', lastName: '', passwordHash })
  const openServer = (of: typeof store) => {
    const audit = new Audit({ rows: of.audit, clock, log: silentLogger })
    const passwords: LoginOptions['passwords'] = {
      checkRoom: () => {},
      verify: async (_hash, given) => given === 'correct horse battery',
      rehash: async () => assert.fail(),
    }
    const devices = new KnownDevices(new Uint8Array(32), clock)
    return new Login({ users: of.users, failures: of.failures, passwords, devices, audit, clock, log: silentLogger })
  }
  // Two connections to one SQLite file in one thread would wait for each other.
  const other = database.kind === 'PostgreSQL' ? await openStore(place) : store
  t.after(() => other.close())
  const servers = [openServer(store), openServer(other)]
  const sign = (at: number, password: string, ip = '192.0.2.1') =>
    servers[at]!.verify({ email: 'ada@example.com', password, context: { ip, userAgent: undefined } })
  for (let i = 0; i < 5; i++) assert.equal(await sign(i % 2, `wrong ${i}`), undefined)
  for (const at of [0, 1]) await assert.rejects(sign(at, 'correct horse battery'), { kind: 'rate_limited' })
  servers[1] = openServer(other)
  await assert.rejects(sign(1, 'correct horse battery'), { kind: 'rate_limited' }, 'after a restart')
  // Many at once, from everywhere.
  await Promise.allSettled(Array.from({ length: 120 }, (_, i) => sign(i % 2, `guess ${i}`, `198.51.${i}.1`)))
  await assert.rejects(sign(0, 'correct horse battery', '203.0.113.9'), { kind: 'rate_limited' })
  // A new password by email ends it for the user, on every server.
  await servers[0]!.forgive('ada@example.com', { ip: '192.0.2.1', userAgent: undefined })
  assert.equal((await sign(1, 'correct horse battery'))!.id, user.id)
  await store.failures.deleteExpired(clock.nowMs() + 86_400_000)
  assert.equal((await sign(0, 'correct horse battery', '203.0.113.9'))!.id, user.id)
})

testEachDatabase('T3: the table of failed attempts is bounded', async (t, database) => {
  const { store } = await database.openStore(t)
  const { failures } = store
  const keys = Array.from({ length: 30 }, (_, i) => `key ${i}`)
  for (const [i, key] of keys.entries()) await failures.add([{ key, lastsMs: 1000 + i, isRenewed: true }], 0)
  await failures.deleteExpired(1009, 5)
  assert.deepEqual([...(await failures.find(keys, 0)).keys()].toSorted(), keys.slice(-5).toSorted())
})
