// Tests sign-ins with a real store and real hashes. The clock moves only when a test moves it.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hash as hashWith } from '@node-rs/argon2'
import { addKeeper, openTemporaryStore } from '../../../test/support/store/temporary-store.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { silentLogger } from '../../base/log.ts'
import { hashPassword, needsRehash } from '../password.ts'
import { Audit } from './audit.ts'
import { KnownDevices } from './known-devices.ts'
import { Login, type LoginInput } from './login.ts'
import { PasswordQueue } from './password-queue.ts'

const email = 'ada@example.com'
const password = 'correct horse'

async function openLogin(
  t: TestContext,
  passwords: Pick<PasswordQueue, 'checkRoom' | 'verify' | 'rehash'> = new PasswordQueue(),
) {
  const { store } = await openTemporaryStore(t)
  await addKeeper(store)
  const user = await store.users.insert({
    email,
    firstName: 'Ada',
    lastName: '',
    passwordHash: await hashPassword(password),
  })
  const clock = new TestClock()
  const audit = new Audit({ rows: store.audit, clock, log: silentLogger })
  const login = new Login({
    users: store.users,
    failures: store.failures,
    passwords,
    devices: new KnownDevices(new Uint8Array(32), clock),
    audit,
    clock,
    log: silentLogger,
  })
  const verify = (input: Partial<LoginInput> & { ip?: string } = {}) =>
    login.verify({ email, password, context: { ip: input.ip ?? '192.0.2.1', userAgent: undefined }, ...input })
  let guesses = 0
  const fail = async (input: Partial<LoginInput> & { ip?: string } = {}) =>
    assert.equal(await verify({ password: `wrong horse ${guesses++}`, ...input }), undefined)
  const isDelayed = (seconds: number, input: Partial<LoginInput> & { ip?: string } = {}) =>
    assert.rejects(verify(input), { kind: 'rate_limited', retryAfterSeconds: seconds })
  const events = async () => (await audit.list(undefined, { limit: 1000, offset: 0 })).reverse()
  return { store, user, clock, login, verify, fail, isDelayed, events }
}

/** Checks passwords without hashing, for tests that only count attempts. */
const instant: Pick<PasswordQueue, 'checkRoom' | 'verify' | 'rehash'> = {
  checkRoom: () => {},
  verify: async (_hash, given) => given === password,
  rehash: async () => assert.fail('nothing to hash anew'),
}

test('T44: every kind of sign-in attempt is audited, without the text that was typed', async (t) => {
  const { store, user, verify, fail, events } = await openLogin(t)
  assert.equal((await verify({ email: ' ADA@example.com', via: 'page' }))!.id, user.id)
  await fail()
  await fail({ email: 'my password by mistake', password })
  await fail({ email: `${'x'.repeat(1000)}@example.com`, password })
  await fail({ email: 'nul\0@example.com', password })
  await fail({ password: 'x'.repeat(100_000) })
  await store.accounts.change(user.id, { isDisabled: true })
  await fail({ password })
  assert.deepEqual(
    (await events()).map(({ event, userId, subject, detail }) => [event, userId, subject, detail]),
    [
      ['login.ok', user.id, email, { via: 'page' }],
      ['login.failed', user.id, email, { reason: 'password' }],
      ['login.failed', null, null, { reason: 'unknown account' }],
      ['login.failed', null, null, { reason: 'unknown account' }],
      ['login.failed', null, null, { reason: 'unknown account' }],
      ['login.failed', user.id, email, { reason: 'password' }],
      ['login.failed', user.id, email, { reason: 'disabled' }],
    ],
  )
})

test('T30: after five failures, each further one doubles the delay, up to 15 minutes', async (t) => {
  const { clock, fail, verify, isDelayed } = await openLogin(t, instant)
  for (let i = 0; i < 5; i++) await fail()
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
    await isDelayed(seconds)
    await isDelayed(seconds, { password: 'wrong horse' })
    clock.skip(seconds * 1000 - 1)
    await isDelayed(1)
    clock.skip(1)
    await fail()
  }
  clock.skip(900_000)
  assert.ok(await verify())
  for (let i = 0; i < 5; i++) await fail()
  await isDelayed(1)
})

test('T30: the delay affects neither other IP addresses nor other accounts from the same IP address', async (t) => {
  const { store, fail, verify, isDelayed } = await openLogin(t, instant)
  await store.users.insert({ email: 'bob@example.com', firstName: '', lastName: '', passwordHash: '$argon2id$x' })
  for (let i = 0; i < 5; i++) await fail({ ip: '2001:db8::1' })
  await isDelayed(1, { ip: '2001:db8::2' })
  assert.ok(await verify({ ip: '2001:db8:0:1::1' }))
  assert.ok(await verify({ ip: '192.0.2.2' }))
  assert.ok(await verify({ ip: '2001:db8::1', email: 'bob@example.com' }))
  await isDelayed(1, { ip: '2001:db8::1', email: 'ADA@EXAMPLE.COM' })
})

test('T30: unknown accounts are delayed like existing ones', async (t) => {
  const { fail, isDelayed } = await openLogin(t, instant)
  for (let i = 0; i < 5; i++) await fail({ email: 'nobody@example.com' })
  await isDelayed(1, { email: 'nobody@example.com' })
})

test('T30: after a hundred failures, an IP address is delayed for the rest of ten minutes', async (t) => {
  const { clock, fail, verify, isDelayed } = await openLogin(t, instant)
  for (let i = 0; i < 100; i++) {
    await fail({ email: `user${i}@example.com` })
    clock.skip(1000)
  }
  await isDelayed(500)
  assert.ok(await verify({ ip: '192.0.2.2' }))
  clock.skip(500_000)
  assert.ok(await verify())
})

test('T30: after a hundred failures from everywhere, only known devices can sign in for the rest of the hour', async (t) => {
  const { clock, login, user, fail, verify, isDelayed } = await openLogin(t, instant)
  const device = login.createDevice(user)
  for (let i = 0; i < 100; i++) {
    await fail({ ip: `198.51.100.${i}` })
    clock.skip(1000)
  }
  await isDelayed(3500, { ip: '192.0.2.9' })
  await isDelayed(3500, { ip: '192.0.2.9', device: login.createDevice({ ...user, id: user.id + 1 }) })
  assert.ok(await verify({ ip: '192.0.2.9', device }))
  assert.ok(await verify({ ip: '192.0.2.9', proof: 'session x' }))
  for (let i = 0; i < 5; i++) await fail({ ip: '192.0.2.9', device })
  await isDelayed(1, { ip: '192.0.2.9', device })
  clock.skip(3_500_000)
  assert.ok(await verify({ ip: '192.0.2.8' }))
})

test('T30: a stolen device cookie or session is delayed like one address, wherever it is, and delays nobody else', async (t) => {
  for (const kind of ['device', 'proof'] as const) {
    const { clock, login, user, fail, verify, isDelayed } = await openLogin(t, instant)
    const other: Partial<LoginInput> = { [kind]: kind === 'device' ? login.createDevice(user) : 'session y' }
    clock.skip(1000)
    const known: Partial<LoginInput> = { [kind]: kind === 'device' ? login.createDevice(user) : 'session x' }
    for (let i = 0; i < 5; i++) await fail({ ip: `198.51.100.${i}`, ...known })
    for (const seconds of [1, 2, 4, 8]) {
      await isDelayed(seconds, { ip: '192.0.2.9', ...known })
      assert.ok(await verify({ ip: '192.0.2.9', ...other }), kind)
      assert.ok(await verify({ ip: '192.0.2.9' }))
      clock.skip(seconds * 1000)
      await fail({ ip: '192.0.2.9', ...known })
    }
  }
})

test('T30: a program at home with the old password locks nobody out, and the same guess counts once', async (t) => {
  const { clock, login, user, fail, verify, isDelayed } = await openLogin(t, instant)
  for (let minute = 0; minute < 360; minute++) {
    await fail({ password: 'the old password' })
    if (minute % 6 === 0) assert.ok(await verify(), `${minute}`)
    clock.skip(60_000)
  }
  // Others at the same address who guess do not lock a known browser out either.
  const device = login.createDevice(user)
  for (let i = 0; i < 6; i++) {
    clock.skip(2000)
    await fail()
  }
  await isDelayed(2)
  assert.ok(await verify({ device }))
})

test('T30: simultaneous guesses are limited like successive ones', async (t) => {
  let checked = 0
  const slow: typeof instant = {
    ...instant,
    async verify(hash, given) {
      checked++
      await new Promise((resolve) => setTimeout(resolve, 5))
      return instant.verify(hash, given)
    },
  }
  const { verify } = await openLogin(t, slow)
  const results = await Promise.allSettled(
    Array.from({ length: 60 }, (_, i) => verify({ password: `wrong horse ${i}` })),
  )
  assert.equal(checked, 5)
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 5)
  for (const result of results) {
    if (result.status === 'rejected') assert.equal(result.reason.kind, 'rate_limited')
  }
})

test('many simultaneous sign-ins with the correct password are not delayed', async (t) => {
  const { verify, fail } = await openLogin(t, instant)
  for (let i = 0; i < 4; i++) await fail()
  const users = await Promise.all(Array.from({ length: 80 }, () => verify()))
  assert.ok(users.every((user) => user !== undefined))
})

test('T25: an attempt whose password was not checked does not count', async (t) => {
  const { verify, events } = await openLogin(t, new PasswordQueue({ maxRunning: 1, maxWaiting: 0 }))
  for (let round = 0; round < 3; round++) {
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => verify()))
    const kinds = results.map((result) => (result.status === 'rejected' ? result.reason.kind : 'ok'))
    assert.deepEqual(kinds.sort(), ['ok', 'unavailable', 'unavailable', 'unavailable', 'unavailable'])
  }
  assert.equal((await events()).length, 3)
})

test('T25: a hash with weaker parameters is replaced at the next sign-in, unless the password has changed', async (t) => {
  const { store, user, verify, fail } = await openLogin(t)
  const weak = await hashWith('short', { algorithm: 2, memoryCost: 8192, timeCost: 1, parallelism: 1 })
  await store.accounts.change(user.id, { passwordHash: weak })
  await fail()
  assert.equal((await store.users.findLogin(email))!.passwordHash, weak)
  assert.ok(await verify({ password: 'short' }))
  const { passwordHash } = (await store.users.findLogin(email))!
  assert.equal(needsRehash(passwordHash), false)
  assert.ok(await verify({ password: 'short' }))
  assert.equal((await store.users.findLogin(email))!.passwordHash, passwordHash)
  assert.equal(await store.users.replacePasswordHash(user.id, weak, 'x'), false)
  assert.equal((await store.users.findLogin(email))!.passwordHash, passwordHash)
})

test('a sign-in fails if the password changes while it is being verified', async (t) => {
  const passwords = new PasswordQueue()
  const { store, user, verify } = await openLogin(t, passwords)
  const next = await hashPassword('another horse')
  const checking = verify()
  await store.accounts.change(user.id, { passwordHash: next })
  assert.equal(await checking, undefined)
})

test('a sign-in fails if the password changes while its hash is being renewed', async (t) => {
  const passwords = new PasswordQueue()
  let change = async (): Promise<void> => {}
  const { store, user, verify } = await openLogin(t, {
    checkRoom: () => passwords.checkRoom({ name: '', isKnown: false }),
    verify: (hash, given) => passwords.verify(hash, given),
    async rehash(given) {
      await change()
      return passwords.rehash(given)
    },
  })
  const weak = await hashWith(password, { algorithm: 2, memoryCost: 8192, timeCost: 1, parallelism: 1 })
  const next = await hashPassword('another horse')
  await store.accounts.change(user.id, { passwordHash: weak })
  change = async () => void (await store.accounts.change(user.id, { passwordHash: next }))
  assert.equal(await verify(), undefined)
  assert.equal((await store.users.findLogin(email))!.passwordHash, next)
  await store.accounts.change(user.id, { passwordHash: weak })
  change = async () => void (await store.accounts.change(user.id, { isDisabled: true }))
  assert.equal(await verify(), undefined)
  await store.accounts.change(user.id, { isDisabled: false })
  change = async () => {}
  assert.ok(await verify())
})

test('T1: unknown, disabled and passwordless accounts take as long as a wrong password', async (t) => {
  // Measures CPU time, which other programs disturb less than elapsed time: the only wait is for one row, for all alike.
  const measure = async (): Promise<number[]> => {
    // Uses a new store each time, because so many failures of one account would be delayed.
    const { store, fail } = await openLogin(t)
    const add = async (name: string, passwordHash: string) =>
      (await store.users.insert({ email: name, firstName: '', lastName: '', passwordHash })).id
    await add('none@example.com', '')
    const off = await add('off@example.com', await hashPassword(password))
    await store.accounts.change(off, { isDisabled: true })
    const subjects = [email, 'nobody@example.com', 'none@example.com', 'off@example.com']
    const times = new Map<string, number[]>(subjects.map((subject) => [subject, []]))
    for (let i = 0; i < 32; i++) {
      // Each subject has each position equally often.
      for (const subject of subjects.map((_, at) => subjects[(at + i) % subjects.length]!)) {
        const before = process.cpuUsage()
        await fail({ email: subject, ip: `192.0.2.${i}` })
        const { user, system } = process.cpuUsage(before)
        times.get(subject)!.push((user + system) / 1000)
      }
    }
    return subjects.map((subject) => times.get(subject)!.sort((a, b) => a - b)[16]!)
  }
  // Other programs may disturb a series of measurements, but rarely several in the same way.
  for (let round = 0; ; round++) {
    const [wrong, ...others] = await measure()
    t.diagnostic(`medians in ms: ${[wrong, ...others].map((ms) => ms!.toFixed(2)).join(', ')}`)
    if (others.every((other) => Math.abs(other / wrong! - 1) < 0.1)) break
    assert.ok(round < 12, 'the times differ, each time')
  }
})
