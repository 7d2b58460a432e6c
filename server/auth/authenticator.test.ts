import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type TestDatabase, testEachDatabase } from '../../test/postgres/each-database.ts'
import { addKeeper } from '../../test/support/store/temporary-store.ts'
import { TestClock } from '../../test/support/test-clock.ts'
import { silentLogger } from '../base/log.ts'
import type { NewToken } from '../store/accounts/tokens.ts'
import { Authenticator } from './authenticator.ts'
import type { Caller, UnauthenticatedError } from './caller.ts'
import { createPersonalToken, describePersonalToken } from './personal-token.ts'

async function createAuthenticator(t: TestContext, { openStore }: TestDatabase) {
  const clock = new TestClock()
  const { store } = await openStore(t, { clock })
  const user = await store.users.insert({ email: 'a@x', firstName: '', lastName: '', passwordHash: '' })
  const add = async (value: string, scopes = ['read'], own: Partial<NewToken> = {}) =>
    store.tokens.insert({ userId: user.id, name: 't', scopes, ...describePersonalToken(value), ...own })
  const counts = { hashesAsked: 0 }
  const tokens = {
    findLiveByHash: (hash: Uint8Array) => {
      counts.hashesAsked++
      return store.tokens.findLiveByHash(hash)
    },
    findLive: (id: number) => store.tokens.findLive(id),
    hasUncheckable: () => store.tokens.hasUncheckable(),
    setLastUsed: (times: ReadonlyMap<number, number>) => store.tokens.setLastUsed(times),
  }
  const authenticator = new Authenticator({
    tokens,
    grants: store.grants,
    source: store,
    clock,
    log: silentLogger,
  })
  const authenticate = async (header: string | undefined): Promise<Caller> => authenticator.authenticate(header)
  const refuses = (header: string | undefined, sentToken?: 'bearer' | 'personal') =>
    assert.rejects(authenticate(header), (error: UnauthenticatedError) => {
      assert.deepEqual([error.kind, error.sentToken], ['unauthenticated', sentToken], header)
      return true
    })
  return { store, clock, counts, user, add, authenticator, authenticate, refuses }
}

testEachDatabase(
  'a personal access token identifies its caller, the second time from the cache',
  async (t, database) => {
    const { user, add, authenticator, authenticate } = await createAuthenticator(t, database)
    const value = createPersonalToken(randomBytes)
    const { id } = await add(value, ['read', 'write'])
    const caller = await authenticate(`PersonalAccessToken ${value}`)
    assert.deepEqual([caller.userId, caller.credential], [user.id, { kind: 'personal', id }])
    assert.ok(caller.scopes.has('camera_guest_manage'))
    assert.equal(authenticator.authenticate(`PersonalAccessToken ${value}`), caller)
    for (const scheme of ['personalaccesstoken', 'PERSONALACCESSTOKEN ']) {
      assert.equal((await authenticate(`${scheme} ${value}`)).credential.id, id)
    }
  },
)

testEachDatabase(
  'other credentials are rejected, and invalid bearer tokens are marked as such',
  async (t, database) => {
    const { add, refuses } = await createAuthenticator(t, database)
    const value = createPersonalToken(randomBytes)
    await add(value)
    for (const header of [
      undefined,
      '',
      'PersonalAccessToken',
      `PersonalAccessToken ${value} x`,
      value,
      `Basic ${value}`,
    ]) {
      await refuses(header)
    }
    await refuses(`PersonalAccessToken ${createPersonalToken(randomBytes)}`, 'personal')
    await refuses(`PersonalAccessToken ${value}x`, 'personal')
    await refuses(`Bearer ${value}`, 'bearer')
    await refuses('bearer x', 'bearer')
  },
)

testEachDatabase(
  'a mistyped token is rejected without a database query, unless similar tokens were imported',
  async (t, database) => {
    const { add, authenticate, refuses, counts } = await createAuthenticator(t, database)
    const mistyped = `njp_${'0'.repeat(36)}`
    await refuses(`PersonalAccessToken ${mistyped}`, 'personal')
    assert.equal(counts.hashesAsked, 0)
    const { id } = await add(mistyped)
    assert.equal((await authenticate(`PersonalAccessToken ${mistyped}`)).credential.id, id)
  },
)

testEachDatabase('revoked tokens and tokens of disabled accounts are rejected at once', async (t, database) => {
  const { store, user, add, authenticator, authenticate, refuses } = await createAuthenticator(t, database)
  const [first, second] = [createPersonalToken(randomBytes), createPersonalToken(randomBytes)]
  const { id } = await add(first)
  const { id: secondId } = await add(second)
  for (const value of [first, second]) await authenticate(`PersonalAccessToken ${value}`)
  assert.equal(await authenticator.isLive({ kind: 'personal', id }), true)
  assert.equal(authenticator.isLive({ kind: 'personal', id }), true)
  await store.tokens.revoke(id)
  await refuses(`PersonalAccessToken ${first}`, 'personal')
  assert.equal(await authenticator.isLive({ kind: 'personal', id }), false)
  await authenticate(`PersonalAccessToken ${second}`)
  await addKeeper(store)
  await store.accounts.change(user.id, { isDisabled: true })
  await refuses(`PersonalAccessToken ${second}`, 'personal')
  assert.equal(await authenticator.isLive({ kind: 'personal', id: secondId }), false)
})

testEachDatabase('the time of last use is saved every minute and at the end', async (t, database) => {
  const { store, add, authenticate, authenticator } = await createAuthenticator(t, database)
  const value = createPersonalToken(randomBytes)
  await add(value)
  const startedMs = Date.now()
  const stop = new AbortController()
  const running = authenticator.run(stop.signal)
  await authenticate(`PersonalAccessToken ${value}`)
  const version = store.version
  assert.equal((await store.tokens.list())[0]?.lastUsedAtMs, null)
  stop.abort()
  await running
  assert.ok((await store.tokens.list())[0]!.lastUsedAtMs! >= startedMs)
  assert.equal(store.version, version)
})

testEachDatabase('a token works until it expires, and so does what it creates', async (t, database) => {
  const { store, add, user, refuses, clock, authenticate } = await createAuthenticator(t, database)
  const [first, second] = [createPersonalToken(randomBytes), createPersonalToken(randomBytes)]
  const expiresAtMs = clock.nowMs() + 60_000
  const { id } = await add(first, ['user_access'], { expiresAtMs })
  const made = await add(second, ['user_access'], { maker: { kind: 'personal', id } })
  assert.equal(made.expiresAtMs, expiresAtMs)
  for (const value of [first, second]) await authenticate(`PersonalAccessToken ${value}`)
  clock.skip(60_000)
  for (const value of [first, second]) await refuses(`PersonalAccessToken ${value}`, 'personal')
  assert.deepEqual(
    (await store.tokens.list(user.id)).map(({ revokedAtMs }) => revokedAtMs),
    [expiresAtMs, expiresAtMs],
  )
})
