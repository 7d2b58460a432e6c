import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { openLogins } from '../../../test/support/auth/temporary-logins.ts'
import { readPair, readRefusal } from '../../../test/support/auth/temporary-oauth.ts'
import { createOAuthSecret } from './oauth-secrets.ts'

const dayMs = 86_400_000
const invalidGrant = [400, 'invalid_grant']

testEachDatabase(
  'T15: either token revokes its grant, other applications cannot, and the response does not reveal which tokens exist',
  async (t, database) => {
    const { logIn, refresh, revoke, isAccepted, events } = await openLogins(t, database)
    const empty = { status: 200, headers: { 'cache-control': 'no-store', pragma: 'no-cache' }, body: '' }
    for (const kind of ['access_token', 'refresh_token'] as const) {
      const pair = await logIn()
      for (const token of [
        'unknown',
        createOAuthSecret('access', randomBytes),
        createOAuthSecret('refresh', randomBytes),
      ]) {
        assert.deepEqual(await revoke(token), empty)
      }
      assert.deepEqual(await revoke(pair[kind], 'other'), empty)
      assert.equal(await isAccepted(pair.access_token), true)
      assert.deepEqual(await revoke(pair[kind]), empty)
      assert.equal(await isAccepted(pair.access_token), false)
      assert.deepEqual(readRefusal(await refresh(pair.refresh_token)), invalidGrant)
      assert.deepEqual(await revoke(pair[kind]), empty)
      assert.equal(events.at(-1)?.event, 'token.revoked')
    }
    assert.deepEqual(readRefusal(await revoke('x', 'nobody')), [401, 'invalid_client'])
    assert.deepEqual(readRefusal(await revoke('')), [400, 'invalid_request', 'Missing token parameter.'])
  },
)

for (const kind of ['access_token', 'refresh_token'] as const) {
  testEachDatabase(`T15: revoking a superseded ${kind} still ends its grant, and no other`, async (t, database) => {
    const { logIn, refresh, revoke, isAccepted } = await openLogins(t, database)
    const [first, other] = [await logIn(), await logIn()]
    const second = readPair(await refresh(first.refresh_token))
    const third = readPair(await refresh(second.refresh_token))
    await revoke(first[kind], 'other')
    assert.equal(await isAccepted(third.access_token), true)
    await revoke(first[kind])
    assert.equal(await isAccepted(third.access_token), false)
    assert.deepEqual(readRefusal(await refresh(third.refresh_token)), invalidGrant)
    assert.equal(await isAccepted(other.access_token), true)
  })
}

testEachDatabase('T15: revoking an access token that has expired still ends its grant', async (t, database) => {
  const { logIn, refresh, revoke, clock, store } = await openLogins(t, database)
  const pair = await logIn()
  clock.skip(20 * dayMs)
  await store.grants.removeExpired()
  await revoke(pair.access_token)
  assert.deepEqual(readRefusal(await refresh(pair.refresh_token)), invalidGrant)
})
