import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import {
  addApplication,
  addSession,
  addUser,
  askToken,
  createTemporaryOAuth,
  readPair,
  readRefusal,
  type Sent,
  testContext,
  testSecret,
} from '../../../test/support/auth/temporary-oauth.ts'
import { addKeeper } from '../../../test/support/store/temporary-store.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { silentLogger } from '../../base/log.ts'
import type { OAuthPolicy } from '../../model/oauth/policy.ts'
import { Authenticator } from '../authenticator.ts'
import type { AuditEvent } from '../guard/audit.ts'

const redirectUri = 'https://app.example/cb'
const verifier = randomBytes(32).toString('base64url')
const challenge = createHash('sha256').update(verifier).digest('base64url')

async function open(t: TestContext, { openStore }: TestDatabase, policy: Partial<OAuthPolicy> = {}) {
  const clock = new TestClock()
  const { store } = await openStore(t, { clock })
  const events: AuditEvent[] = []
  const oauth = createTemporaryOAuth(store, { clock, policy, audit: { write: (event) => void events.push(event) } })
  const authenticator = new Authenticator({ tokens: store.tokens, grants: store.grants, source: store, clock, log: silentLogger }) // biome-ignore format: one line
  const user = await addUser(store)
  const { id: ownerId } = await addUser(store, 'runner@example.org')
  await addApplication(store, { ownerId })
  await addApplication(store, { ownerId, clientId: 'other' })
  await addApplication(store, { ownerId, clientId: 'public', isConfidential: false })
  const getCode = async (query: Sent = {}) => {
    const asked = { response_type: 'code', client_id: 'app', redirect_uri: redirectUri, scope: 'read', ...query }
    const found = await oauth.authorization.check(new URLSearchParams(asked as Record<string, string>))
    assert.equal(found.kind, 'ask')
    const { request } = found as Extract<typeof found, { kind: 'ask' }>
    const { location } = await oauth.authorization.approve(
      request,
      await addSession(store, await store.users.get(user.id)),
      testContext,
    )
    return new URL(location).searchParams.get('code')!
  }
  const exchange = (code: string, change: Sent = {}) =>
    askToken(oauth, {
      grant_type: 'authorization_code',
      client_id: 'app',
      client_secret: testSecret,
      code,
      redirect_uri: redirectUri,
      ...change,
    })
  const isAccepted = async (access: string) => {
    try {
      await authenticator.authenticate(`Bearer ${access}`)
      return true
    } catch {
      return false
    }
  }
  return { store, clock, oauth, events, user, getCode, exchange, isAccepted }
}

const withPkce = { code_challenge: challenge, code_challenge_method: 'S256' }

testEachDatabase('T6: a code works once, and using it again ends its grant', async (t, database) => {
  const { getCode, exchange, isAccepted, events, store } = await open(t, database)
  const code = await getCode()
  const pair = readPair(await exchange(code))
  assert.equal(pair.scope, 'read')
  assert.equal(await isAccepted(pair.access_token), true)
  assert.deepEqual(readRefusal(await exchange(code)), [400, 'invalid_grant'])
  assert.equal(await isAccepted(pair.access_token), false)
  assert.deepEqual(await store.grants.list(1), [])
  assert.deepEqual(
    events.map(({ event }) => event),
    ['grant.approved', 'grant.created', 'code.reused'],
  )
})

testEachDatabase('T6: of ten simultaneous exchanges of a code, exactly one succeeds', async (t, database) => {
  const { getCode, exchange } = await open(t, database)
  const code = await getCode()
  const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(code)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers) {
    if (answer.status !== 200) assert.deepEqual(readRefusal(answer), [400, 'invalid_grant'])
  }
})

testEachDatabase('T6: a code expires after a minute', async (t, database) => {
  const { getCode, exchange, clock } = await open(t, database)
  const [early, late] = [await getCode(), await getCode()]
  clock.skip(59_999)
  readPair(await exchange(early))
  clock.skip(1)
  assert.deepEqual(readRefusal(await exchange(late)), [400, 'invalid_grant'])
})

testEachDatabase(
  'T3: an application that has a secret must send it with a code, even with PKCE',
  async (t, database) => {
    const { getCode, exchange } = await open(t, database)
    const code = await getCode(withPkce)
    const proof = { code_verifier: verifier }
    assert.deepEqual(readRefusal(await exchange(code, { ...proof, client_secret: undefined })), [401, 'invalid_client'])
    assert.deepEqual(readRefusal(await exchange(code, { ...proof, client_secret: 'wrong' })), [401, 'invalid_client'])
    assert.deepEqual(readRefusal(await exchange(code, { ...proof, client_id: 'public' })), [401, 'invalid_client'])
    // A client that fails to authenticate does not use up the code of the application.
    readPair(await exchange(code, proof))
  },
)

testEachDatabase('another application can neither use nor invalidate a code', async (t, database) => {
  const { getCode, exchange } = await open(t, database)
  const code = await getCode()
  assert.deepEqual(readRefusal(await exchange(code, { client_id: 'other' })), [400, 'invalid_grant'])
  readPair(await exchange(code))
})

testEachDatabase(
  'T7: a verifier is required if and only if a challenge was sent, and any failure uses up the code',
  async (t, database) => {
    const { getCode, exchange } = await open(t, database)
    const cases: [Sent, Sent][] = [
      [withPkce, {}],
      [withPkce, { code_verifier: randomBytes(32).toString('base64url') }],
      [withPkce, { code_verifier: challenge }],
      [withPkce, { code_verifier: 'short' }],
      [{}, { code_verifier: verifier }],
      [{}, { code_verifier: 'short' }],
    ]
    for (const [query, sent] of cases) {
      const code = await getCode(query)
      assert.deepEqual(readRefusal(await exchange(code, sent)), [400, 'invalid_grant'], JSON.stringify([query, sent]))
      const right = { code_verifier: query === withPkce ? verifier : undefined }
      assert.deepEqual(readRefusal(await exchange(code, right)), [400, 'invalid_grant'])
    }
    readPair(await exchange(await getCode(withPkce), { code_verifier: verifier }))
  },
)

testEachDatabase('T7: an application without a secret exchanges its code with PKCE alone', async (t, database) => {
  const { getCode, exchange } = await open(t, database)
  const asPublic = { client_id: 'public', client_secret: undefined }
  const code = await getCode({ ...withPkce, client_id: 'public' })
  readPair(await exchange(code, { ...asPublic, code_verifier: verifier }))
})

testEachDatabase('the redirect URI must be the same in both requests', async (t, database) => {
  const { getCode, exchange } = await open(t, database)
  for (const redirect_uri of ['https://app.example/other', undefined, `${redirectUri}/`]) {
    const code = await getCode()
    const refusal = [400, 'invalid_grant', 'Mismatching redirect URI.']
    assert.deepEqual(readRefusal(await exchange(code, { redirect_uri })), refusal)
    assert.deepEqual(readRefusal(await exchange(code)), [400, 'invalid_grant'])
  }
})

testEachDatabase('a code becomes invalid when its user is disabled or ends all grants', async (t, database) => {
  const { getCode, exchange, store, user } = await open(t, database)
  await addKeeper(store)
  const first = await getCode()
  await store.accounts.change(user.id, { isDisabled: true })
  assert.deepEqual(readRefusal(await exchange(first)), [400, 'invalid_grant'])
  await store.accounts.change(user.id, { isDisabled: false })
  assert.deepEqual(readRefusal(await exchange(first)), [400, 'invalid_grant'])
  const second = await getCode()
  await store.accounts.signOut(user.id, 'support')
  assert.deepEqual(readRefusal(await exchange(second)), [400, 'invalid_grant'])
})

testEachDatabase('malformed and unknown codes are rejected', async (t, database) => {
  const { exchange } = await open(t, database)
  for (const code of ['x', 'njac_', `njac_${'0'.repeat(49)}`, 'x'.repeat(5000)]) {
    assert.deepEqual(readRefusal(await exchange(code)), [400, 'invalid_grant'])
  }
  assert.deepEqual(readRefusal(await exchange('')), [400, 'invalid_request', 'Missing code parameter.'])
})
