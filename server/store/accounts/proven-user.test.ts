// The moment between a proof (a right password, a session that was found) and what is made on it: whatever changes the
// account in that moment, nothing is left that opens it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import { addKeeper } from '../../../test/support/store/temporary-store.ts'
import { hashToken } from '../../auth/checked-token.ts'
import { decideLogin } from '../../model/oauth/decide-login.ts'
import { defaultPolicy } from '../../model/oauth/policy.ts'
import { openStore, type StoreTables } from '../store.ts'
import type { User } from './users.ts'

const hourMs = 3_600_000

async function open(t: TestContext, database: TestDatabase) {
  const { store, database: name, credentialsKey } = await database.openStore(t)
  // Another process, as far as PostgreSQL can tell. Of a file of SQLite, whose calls wait on this very thread, see
  // races.test.ts.
  const other =
    database.kind === 'SQLite' ? store : await openStore({ database: name, credentialsKey, foreignIntervalMs: 0 })
  if (other !== store) t.after(() => other.close())
  await addKeeper(store)
  const user = await store.users.insert({ email: 'ada@x', firstName: 'Ada', lastName: '', passwordHash: 'first' })
  const app = await store.applications.insert({
    clientId: 'app',
    ownerId: user.id,
    name: 'Doorbell',
    redirectUris: [],
    secretHash: null,
  })
  const nowMs = Date.now()
  const addSession = async (tables: StoreTables, { id: userId, credentialsVersion }: User) => {
    const hash = randomBytes(32)
    const times = {
      createdAtMs: nowMs,
      seenAtMs: nowMs,
      secondFactorAtMs: null,
      secondFactor: null,
      needsSecondFactor: false,
      passwordAtMs: nowMs,
    }
    const session = { id: randomBytes(9).toString('base64url'), userId, credentialsVersion, ...times }
    await tables.sessions.insert({ ...session, hash, ip: '', userAgent: null })
    return { ...session, hash }
  }
  /** What may be made for a user: each gives what tells whether it still opens the account. */
  const makings = {
    session: async (tables: StoreTables, proven: User) => {
      const { hash } = await addSession(tables, proven)
      return async () => (await store.sessions.findByHash(hash)) !== undefined
    },
    grant: async (tables: StoreTables, proven: User) => {
      const login = { userId: proven.id, applicationId: app.id, scopes: ['read'] }
      const { effects } = decideLogin(login, nowMs, defaultPolicy)
      const pairHashes = { access: randomBytes(32), refresh: randomBytes(32) }
      const { credentialsVersion } = proven
      const grantId = await tables.grants.commit(effects, { nowMs, pairHashes, credentialsVersion, ip: '', label: '' })
      return async () => (await store.grants.findEndMs(grantId!)) !== undefined
    },
    token: async (tables: StoreTables, proven: User) => {
      const hash = randomBytes(32)
      const shown = { name: '', scopes: ['read'], prefix: 'njp_', lastFour: 'abcd', isChecksumValid: true }
      const { id: userId, credentialsVersion } = proven
      await tables.tokens.insert({ ...shown, userId, credentialsVersion, hash })
      return async () => (await store.tokens.findLiveByHash(hash)) !== undefined
    },
    link: async (tables: StoreTables, proven: User) => {
      const hash = hashToken(randomBytes(9).toString('hex'))
      const { id: userId, credentialsVersion } = proven
      await tables.links.insert({ kind: 'reset', hash, userId, credentialsVersion, expiresAtMs: nowMs + hourMs })
      return async () => (await store.links.find('reset', hash)) !== undefined
    },
    code: async (tables: StoreTables, proven: User) => {
      const session = await addSession(tables, proven)
      const hash = randomBytes(32)
      const asked = { applicationId: app.id, userId: proven.id, redirectUri: 'x', scopes: ['read'] }
      const rest = { codeChallenge: undefined, expiresAtMs: nowMs + hourMs, endsWithSession: false }
      await tables.grants.insertCode({ hash, ...asked, ...rest, session })
      return async () => (await store.grants.findCode(hash)) !== undefined
    },
  }
  const changes: Record<string, (tables: StoreTables) => Promise<unknown>> = {
    password: ({ accounts }) => accounts.change(user.id, { passwordHash: 'next' }, { personalTokens: true }),
    disabled: ({ accounts }) => accounts.change(user.id, { isDisabled: true }),
    'signed out': ({ accounts }) => accounts.signOut(user.id, 'support', { personalTokens: true }),
  }
  /** To begin anew. */
  const enable = async () => (await store.accounts.change(user.id, { isDisabled: false })).user
  return { store, other, user, addSession, makings, changes, enable }
}

testEachDatabase('what is made for a user whose account has changed since is refused', async (t, database) => {
  const { store, makings, changes, enable } = await open(t, database)
  for (const [name, change] of Object.entries(changes)) {
    for (const [what, make] of Object.entries(makings)) {
      const proven = await enable()
      const isGood = await make(store, proven)
      assert.equal(await isGood(), true, what)
      await change(store)
      assert.equal(await isGood(), false, `${what}, ${name}`)
      await assert.rejects(make(store, proven), { kind: 'unauthenticated' }, `${what}, ${name}`)
      // Not only as long as the account is disabled.
      await enable()
      assert.equal(await isGood(), false, `${what}, ${name}, enabled again`)
      await assert.rejects(make(store, proven), { kind: 'unauthenticated' }, `${what}, ${name}, enabled again`)
    }
  }
})

testEachDatabase('what is being made while an account changes waits for it, and is refused', async (t, database) => {
  const { store, other, makings, changes, enable } = await open(t, database)
  for (const change of Object.values(changes)) {
    for (const make of Object.values(makings)) {
      const proven = await enable()
      const making: Promise<unknown>[] = []
      await store.transaction(async (tables) => {
        await change(tables)
        if (making.length > 0) return
        making.push(assert.rejects(make(other, proven), { kind: 'unauthenticated' }))
        await delay(20)
      })
      await Promise.all(making)
    }
  }
})

testEachDatabase('a change of an account waits for what is being made, and ends it', async (t, database) => {
  const { store, other, makings, changes, enable } = await open(t, database)
  for (const [name, change] of Object.entries(changes)) {
    for (const [what, make] of Object.entries(makings)) {
      const proven = await enable()
      const changing: Promise<unknown>[] = []
      const isGood = await store.transaction(async (tables) => {
        const found = await make(tables, proven)
        if (changing.length === 0) changing.push(change(other))
        await delay(20)
        return found
      })
      await Promise.all(changing)
      await enable()
      assert.equal(await isGood(), false, `${what}, ${name}`)
    }
  }
})

testEachDatabase('of two who change a password with the same proof one is refused', async (t, database) => {
  const { store, other, user } = await open(t, database)
  for (let round = 0; round < 10; round++) {
    const { credentialsVersion } = await store.users.get(user.id)
    const hashes = [`${round} a`, `${round} b`]
    const both = await Promise.allSettled(
      [store, other].map(({ accounts }, i) =>
        accounts.change(user.id, { passwordHash: hashes[i]! }, { credentialsVersion }),
      ),
    )
    const won = both.findIndex(({ status }) => status === 'fulfilled')
    const lost = both[1 - won] as PromiseRejectedResult
    assert.deepEqual([lost.status, lost.reason.kind], ['rejected', 'unauthenticated'])
    assert.equal((await store.users.findLogin(user.email))!.passwordHash, hashes[won])
  }
})

testEachDatabase('whatever comes first, of everything at once nothing is left', async (t, database) => {
  const { store, other, makings, changes, enable } = await open(t, database)
  for (let round = 0; round < 12; round++) {
    const proven = await enable()
    const change = Object.values(changes)[round % 3]!
    const made = Object.values(makings).flatMap((make, i) => [make(store, proven), make(i % 2 ? store : other, proven)])
    const [results] = await Promise.all([Promise.allSettled(made), change(round % 2 ? store : other)])
    await enable()
    for (const result of results) {
      if (result.status === 'rejected') assert.equal(result.reason.kind, 'unauthenticated', String(result.reason))
      else assert.equal(await result.value(), false)
    }
  }
})

testEachDatabase('a code asks for the session it was approved in', async (t, database) => {
  const { store, user, addSession, makings } = await open(t, database)
  const session = await addSession(store, user)
  await store.sessions.remove(user.id, session.id)
  const code = { hash: randomBytes(32), applicationId: 1, userId: user.id, redirectUri: 'x', scopes: ['read'] }
  const rest = { codeChallenge: undefined, expiresAtMs: Date.now() + hourMs, endsWithSession: false }
  await assert.rejects(store.grants.insertCode({ ...code, ...rest, session }), { kind: 'unauthenticated' })
  assert.equal(await (await makings.code(store, user))(), true)
})
