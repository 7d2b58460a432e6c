import assert from 'node:assert/strict'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { listTexts, readRows } from '../../../test/postgres/read-rows.ts'
import { openLogins } from '../../../test/support/auth/temporary-logins.ts'
import {
  addSession,
  readPair,
  readRefusal,
  type Sent,
  testContext,
} from '../../../test/support/auth/temporary-oauth.ts'
import { addKeeper } from '../../../test/support/store/temporary-store.ts'

const dayMs = 86_400_000

const invalidGrant = [400, 'invalid_grant']

testEachDatabase('T2: each of 1,000 access tokens expires after exactly 36,000 seconds', async (t, database) => {
  const { logIn, refresh, clock, isAccepted } = await openLogins(t, database)
  let pair = await logIn()
  for (let i = 0; i < 1000; i++) {
    assert.equal(pair.expires_in, 36_000)
    assert.equal(pair.token_type, 'Bearer')
    assert.match(pair.access_token, /^njat_[0-9A-Za-z]{49}$/)
    assert.match(pair.refresh_token, /^njrt_[0-9A-Za-z]{49}$/)
    clock.skip(1)
    pair = i % 2 === 0 ? readPair(await refresh(pair.refresh_token)) : await logIn()
  }
  clock.skip(35_999_999)
  assert.equal(await isAccepted(pair.access_token), true)
  clock.skip(1)
  assert.equal(await isAccepted(pair.access_token), false)
})

testEachDatabase('T10: a refresh ends all earlier tokens of its login and of no other', async (t, database) => {
  const { logIn, refresh, isAccepted, clock } = await openLogins(t, database)
  const [phone, tablet] = [await logIn(), await logIn()]
  assert.equal(await isAccepted(phone.access_token), true)
  const next = readPair(await refresh(phone.refresh_token))
  assert.equal(await isAccepted(phone.access_token), false)
  assert.deepEqual(readPair(await refresh(phone.refresh_token)), next, 'no second pair')
  assert.equal(await isAccepted(next.access_token), true)
  assert.equal(await isAccepted(tablet.access_token), true)
  clock.skip(20_000)
  readPair(await refresh(next.refresh_token))
  readPair(await refresh(tablet.refresh_token))
})

testEachDatabase('T11: fifty simultaneous refreshes create exactly one pair', async (t, database) => {
  const { logIn, refresh, isAccepted } = await openLogins(t, database)
  const { refresh_token } = await logIn()
  const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(refresh_token)))
  const pair = readPair(answers[0]!)
  for (const answer of answers) assert.deepEqual(readPair(answer), pair)
  assert.equal(await isAccepted(pair.access_token), true)
})

testEachDatabase(
  'T12: a refresh whose answer was lost is answered again for a minute; after that it ends the grant',
  async (t, database) => {
    const { logIn, refresh, isAccepted, clock, events, notices, user, app } = await openLogins(t, database)
    const first = await logIn()
    const second = readPair(await refresh(first.refresh_token))
    for (const ms of [0, 11_000, 48_999]) {
      clock.skip(ms)
      assert.deepEqual(readPair(await refresh(first.refresh_token)), second)
    }
    assert.equal(await isAccepted(second.access_token), true)
    assert.deepEqual(events.map(({ event }) => event), ['grant.created']) // biome-ignore format: one line
    clock.skip(1)
    assert.deepEqual(readRefusal(await refresh(first.refresh_token)), invalidGrant)
    assert.equal(await isAccepted(second.access_token), false)
    assert.deepEqual(readRefusal(await refresh(second.refresh_token)), invalidGrant)
    const detail = { grant: 1, application: app.id }
    assert.deepEqual(events.at(-1), { event: 'refresh.reused', userId: user.id, subject: 'Doorbell', context: testContext, detail }) // biome-ignore format: one line
    assert.deepEqual(notices, [{ userId: user.id, appName: 'Doorbell', context: testContext }])
  },
)

testEachDatabase(
  'T12: once the new refresh token was used, the old one ends the grant at once',
  async (t, database) => {
    const { logIn, refresh, isAccepted, notices } = await openLogins(t, database)
    const first = await logIn()
    const second = readPair(await refresh(first.refresh_token))
    const third = readPair(await refresh(second.refresh_token))
    assert.deepEqual(readRefusal(await refresh(first.refresh_token)), invalidGrant)
    assert.equal(await isAccepted(third.access_token), false)
    assert.equal(notices.length, 1)
  },
)

testEachDatabase('T12: with a leeway of 0, the first replay ends the grant', async (t, database) => {
  const { logIn, refresh, isAccepted } = await openLogins(t, database, { reuseLeewayMs: 0 })
  const first = await logIn()
  const second = readPair(await refresh(first.refresh_token))
  assert.deepEqual(readRefusal(await refresh(first.refresh_token)), invalidGrant)
  assert.equal(await isAccepted(second.access_token), false)
})

testEachDatabase(
  'T13: a refresh that fails for another reason does not use up the refresh token',
  async (t, database) => {
    const { logIn, refresh, app, store } = await openLogins(t, database)
    const { refresh_token } = await logIn({ scope: 'read' })
    const cases: [Sent, string?, string?][] = [
      [{ scope: 'write' }, 'invalid_scope'],
      [{ scope: 'nonsense' }, 'invalid_scope'],
      [{ client_id: 'other' }, 'invalid_grant'],
      [{ client_id: 'nobody' }, 'invalid_client'],
      [{ client_id: undefined }, 'invalid_client'],
      [{ client_secret: 'wrong' }, 'invalid_client'],
      [{ grant_type: 'refresh' }, 'unsupported_grant_type'],
      [{}, 'invalid_request', '\n'],
    ]
    for (const [change, error, key] of cases) {
      const answer = await refresh(refresh_token, change, key)
      assert.deepEqual([readRefusal(answer)[1], answer.status], [error, error === 'invalid_client' ? 401 : 400])
    }
    await store.applications.update(app.id, { requiresSecret: true })
    assert.deepEqual(readRefusal(await refresh(refresh_token)), [401, 'invalid_client'])
    await store.applications.update(app.id, { requiresSecret: false })
    readPair(await refresh(refresh_token))
  },
)

testEachDatabase('a refresh can request fewer scopes, for that access token only', async (t, database) => {
  const { logIn, refresh, authenticator } = await openLogins(t, database)
  const first = await logIn({ scope: 'write read' })
  assert.equal(first.scope, 'write read')
  const narrow = readPair(await refresh(first.refresh_token, { scope: 'read' }))
  assert.equal(narrow.scope, 'read')
  const caller = await authenticator.authenticate(`Bearer ${narrow.access_token}`)
  assert.deepEqual([caller.scopes.has('read'), caller.scopes.has('camera_manage')], [true, false])
  assert.equal(readPair(await refresh(narrow.refresh_token)).scope, 'write read')
})

testEachDatabase(
  'T14: the same Idempotency-Key returns the same pair until its refresh token is used or a minute has passed',
  async (t, database) => {
    const { logIn, refresh, isAccepted, clock } = await openLogins(t, database)
    const first = await logIn()
    const answer = await refresh(first.refresh_token, {}, 'key-1')
    const second = readPair(answer)
    clock.skip(9_000)
    assert.deepEqual(await refresh(first.refresh_token, {}, 'key-1'), answer)
    assert.deepEqual(readRefusal(await refresh(first.refresh_token, {}, 'key-2')), invalidGrant)
    assert.deepEqual(readRefusal(await refresh(first.refresh_token)), invalidGrant)
    clock.skip(50_999)
    assert.deepEqual(await refresh(first.refresh_token, {}, 'key-1'), answer)
    assert.equal(await isAccepted(second.access_token), true)

    const third = readPair(await refresh(second.refresh_token, {}, 'key-1'))
    assert.deepEqual(readPair(await refresh(second.refresh_token, {}, 'key-1')), third)
    clock.skip(5_000)
    // The refresh token that replaced the first one has been used.
    assert.deepEqual(readRefusal(await refresh(first.refresh_token, {}, 'key-1')), invalidGrant)
    assert.equal(await isAccepted(third.access_token), false)

    const other = await logIn()
    readPair(await refresh(other.refresh_token, {}, 'key-1'))
    clock.skip(60_000)
    assert.deepEqual(readRefusal(await refresh(other.refresh_token, {}, 'key-1')), invalidGrant)
  },
)

testEachDatabase('T14: simultaneous requests with the same key get the same response', async (t, database) => {
  const { logIn, refresh } = await openLogins(t, database)
  const { refresh_token } = await logIn()
  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token, {}, 'key')))
  for (const answer of answers) assert.deepEqual(answer, answers[0])
  readPair(answers[0]!)
})

testEachDatabase('T14, T23: the database contains no token, code or saved response in clear', async (t, kind) => {
  const { logIn, refresh, database, store, oauth, user } = await openLogins(t, kind)
  const query = { response_type: 'code', client_id: 'app', redirect_uri: 'https://app.example/cb' }
  const asked = await oauth.authorization.check(new URLSearchParams(query))
  assert.equal(asked.kind, 'ask')
  const { location } = await oauth.authorization.approve(asked.request, await addSession(store, user), testContext)
  const code = new URL(location).searchParams.get('code')!
  const first = await logIn()
  const second = readPair(await refresh(first.refresh_token, {}, 'key-1'))
  const texts = listTexts(await readRows(database))
  assert.ok(texts.length > 50)
  for (const { access_token, refresh_token } of [first, second]) {
    for (const secret of [access_token, refresh_token, access_token.slice(5, 30), refresh_token.slice(5, 30)]) {
      assert.ok(!texts.some((text) => text.includes(secret)))
    }
  }
  for (const secret of [code, code.slice(5, 30), 'key-1']) assert.ok(!texts.some((text) => text.includes(secret)))
  assert.ok((await store.grants.list(1)).length > 0)
})

testEachDatabase(
  'T16: a chain of tokens ends after 30 days without use, and after a year in any case',
  async (t, database) => {
    const { logIn, refresh, clock, store, user, isAccepted } = await openLogins(t, database)
    const idle = await logIn()
    clock.skip(30 * dayMs - 1)
    let pair = readPair(await refresh(idle.refresh_token))
    clock.skip(30 * dayMs)
    assert.deepEqual(readRefusal(await refresh(pair.refresh_token)), invalidGrant)
    assert.deepEqual(await store.grants.list(user.id), [])

    pair = await logIn()
    for (let day = 0; day < 364; day += 14) {
      clock.skip(14 * dayMs)
      pair = readPair(await refresh(pair.refresh_token))
      assert.equal(pair.expires_in, 36_000)
    }
    clock.skip(dayMs - 3_600_000)
    pair = readPair(await refresh(pair.refresh_token))
    assert.equal(pair.expires_in, 3600) // the rest of the year
    clock.skip(3_599_999)
    assert.equal(await isAccepted(pair.access_token), true)
    clock.skip(1)
    assert.equal(await isAccepted(pair.access_token), false)
    assert.deepEqual(readRefusal(await refresh(pair.refresh_token)), invalidGrant)
  },
)

testEachDatabase('T16: without a limit, a chain of tokens in use never ends', async (t, database) => {
  const { logIn, refresh, clock } = await openLogins(t, database, { grantMs: undefined })
  let pair = await logIn()
  for (let month = 0; month < 40; month++) {
    clock.skip(29 * dayMs)
    pair = readPair(await refresh(pair.refresh_token))
  }
})

testEachDatabase(
  'T17: removing an application, disabling a user, and ending one or all grants end the tokens at once',
  async (t, database) => {
    const { store, user, app, oauth, authenticator, logIn, refresh, isAccepted } = await openLogins(t, database)
    await addKeeper(store)
    const ways: [string, (grantId: number) => Promise<unknown>][] = [
      ['one', (grantId) => oauth.grants.revoke(user.id, grantId, testContext)],
      ['all', () => store.accounts.signOut(user.id, 'support')],
      ['disabled', () => store.accounts.change(user.id, { isDisabled: true })],
      ['enabled again', () => store.accounts.change(user.id, { isDisabled: false })],
      ['application', () => store.applications.remove(app.id)],
    ]
    for (const [name, end] of ways) {
      if (name === 'enabled again') {
        await end(0)
        continue
      }
      const pair = await logIn()
      const { credential } = await authenticator.authenticate(`Bearer ${pair.access_token}`)
      assert.equal(await authenticator.isLive(credential), true)
      await end(credential.id)
      assert.equal(await isAccepted(pair.access_token), false, name)
      assert.equal(await authenticator.isLive(credential), false, name)
      assert.notEqual((await refresh(pair.refresh_token)).status, 200, name)
    }
    assert.equal(await oauth.grants.revoke(user.id, 999), false)
    assert.equal(await oauth.grants.revoke(user.id + 1, 1), false)
  },
)

testEachDatabase('users see their grants, newest first, with the origin of the last use', async (t, database) => {
  const { store, oauth, user, app, logIn, refresh, clock } = await openLogins(t, database)
  const phone = await logIn({ scope: 'read' })
  await logIn()
  clock.skip(5000)
  await refresh(phone.refresh_token)
  const [tablet, first] = await oauth.grants.list(user.id)
  assert.deepEqual(tablet!.scopes, ['read', 'write'])
  assert.deepEqual(first, {
    id: 1,
    userId: user.id,
    applicationId: app.id,
    appName: 'Doorbell',
    scopes: ['read'],
    createdAtMs: clock.nowMs() - 5000,
    lastUsedAtMs: clock.nowMs(),
    lastIp: testContext.ip,
    label: 'test/1.0',
    expiresAtMs: clock.nowMs() + 30 * dayMs,
  })
  await store.grants.setLastUsed(new Map([[1, 77]]))
  assert.equal((await oauth.grants.list(user.id))[1]!.lastUsedAtMs, 77)
})

testEachDatabase('expired grants are removed, and valid ones are not', async (t, kind) => {
  const { store, database, clock, logIn, refresh } = await openLogins(t, kind)
  const first = await logIn()
  readPair(await refresh(first.refresh_token, {}, 'key'))
  const count = async () => {
    const rows = await readRows(database)
    return ['oauth_grants', 'oauth_tokens', 'oauth_replies'].map((table) => rows[table]!.length)
  }
  assert.deepEqual(await count(), [1, 4, 1])
  await store.grants.removeExpired()
  assert.deepEqual(await count(), [1, 4, 1])
  clock.skip(61_000)
  await store.grants.removeExpired()
  assert.deepEqual(await count(), [1, 4, 0])
  clock.skip(31 * dayMs)
  await store.grants.removeExpired()
  assert.deepEqual(await count(), [1, 0, 0])
  clock.skip(31 * dayMs)
  await store.grants.removeExpired()
  assert.deepEqual(await count(), [0, 0, 0])
})
