import assert from 'node:assert/strict'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { silentLogger } from '../../base/log.ts'
import type { NewAuditRecord } from '../../store/accounts/audit.ts'
import { hashPassword } from '../password.ts'
import { Audit } from './audit.ts'
import { KnownDevices } from './known-devices.ts'
import { Login } from './login.ts'
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
  const login = new Login({ users, passwords: new PasswordQueue(), devices, audit, clock, log: silentLogger })
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
