import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import {
  addApplication,
  addSession,
  addUser,
  createTemporaryOAuth,
  testContext,
  testIssuer,
} from '../../../test/support/auth/temporary-oauth.ts'
import type { OAuth } from './oauth.ts'

const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const usual = { response_type: 'code', client_id: 'app', redirect_uri: 'https://app.example/cb', scope: 'read' }
const installed = { ...usual, client_id: 'installed', redirect_uri: 'http://127.0.0.1:51004/cb' }

async function open(t: TestContext, { openStore }: TestDatabase) {
  const { store } = await openStore(t)
  const user = await addUser(store)
  await addApplication(store, { ownerId: user.id, scopes: ['read', 'write'] })
  const redirectUris = ['http://127.0.0.1/cb', 'com.example.app:/cb']
  await addApplication(store, { ownerId: user.id, clientId: 'installed', isConfidential: false, redirectUris })
  const oauth = createTemporaryOAuth(store)
  const check = (query: Record<string, string | undefined>) => oauth.authorization.check(toQuery(query))
  return { store, user, oauth, check }
}

function toQuery(query: Record<string, string | undefined>): URLSearchParams {
  return new URLSearchParams(Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined))
}

async function ask(oauth: OAuth, query: Record<string, string>) {
  const found = await oauth.authorization.check(toQuery(query))
  assert.equal(found.kind, 'ask')
  return (found as Extract<typeof found, { kind: 'ask' }>).request
}

testEachDatabase(
  'a request is described to the user, and the response goes back to the application',
  async (t, database) => {
    const { oauth, store, user } = await open(t, database)
    const request = await ask(oauth, {
      ...usual,
      state: 'xyz',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    assert.deepEqual(JSON.parse(JSON.stringify(request)), request)
    assert.deepEqual(oauth.authorization.describe(request), {
      appName: 'Doorbell',
      ownerName: 'Ada Lind',
      redirectHost: 'app.example',
      scopes: ['read'],
      idleDays: 30,
      mostDays: 365,
    })
    const { location } = await oauth.authorization.approve(request, await addSession(store, user), testContext)
    const { searchParams, origin, pathname } = new URL(location)
    assert.equal(`${origin}${pathname}`, usual.redirect_uri)
    assert.match(searchParams.get('code')!, /^njac_[0-9A-Za-z]{49}$/)
    assert.deepEqual([searchParams.get('state'), searchParams.get('iss')], ['xyz', testIssuer])
    assert.equal((await oauth.authorization.deny(request)).location, `${usual.redirect_uri}?error=access_denied&iss=${encodeURIComponent(testIssuer)}&state=xyz`) // biome-ignore format: one line
    const own = await ask(oauth, { ...installed, redirect_uri: 'com.example.app:/cb', code_challenge: challenge, code_challenge_method: 'S256' }) // biome-ignore format: one line
    assert.equal(oauth.authorization.describe(own).redirectHost, 'com.example.app')
  },
)

testEachDatabase(
  'T8: an invalid client or redirect URI is reported to the user, without a redirect',
  async (t, database) => {
    const { check } = await open(t, database)
    const cases: [Record<string, string | undefined>, string][] = [
      [{ client_id: undefined }, 'Missing client_id parameter.'],
      [{ client_id: 'nobody' }, 'Invalid client_id parameter value.'],
      [{ client_id: '__proto__' }, 'Invalid client_id parameter value.'],
      [{ redirect_uri: undefined }, 'Missing redirect URI.'],
      [{ redirect_uri: 'https://evil.example/cb' }, 'Mismatching redirect URI.'],
      [{ redirect_uri: 'https://app.example:444/cb' }, 'Mismatching redirect URI.'],
      [{ redirect_uri: 'https://app.example/cb?x=1' }, 'Mismatching redirect URI.'],
      [{ redirect_uri: 'https://app.example/cb/' }, 'Mismatching redirect URI.'],
      [{ redirect_uri: 'https://app.example@evil.example/cb' }, 'Mismatching redirect URI.'],
      [{ redirect_uri: 'https://app.example/x/../cb' }, 'Mismatching redirect URI.'],
      [{ redirect_uri: 'https://APP.example/cb' }, 'Mismatching redirect URI.'],
      [{ redirect_uri: 'https://app.example/cb#x' }, 'Invalid redirect URI.'],
      [{ redirect_uri: 'javascript:alert(1)' }, 'Mismatching redirect URI.'],
      [{ redirect_uri: 'http://127.0.0.1/cb' }, 'Mismatching redirect URI.'],
      [{ state: 'x'.repeat(8193) }, 'The state has more than 8192 characters.'],
    ]
    for (const [change, detail] of cases) {
      assert.deepEqual(await check({ ...usual, ...change }), { kind: 'refused', error: 'invalid_request', detail })
    }
  },
)

testEachDatabase(
  'T9: the state is returned as sent, and what is repeated is ignored or an error',
  async (t, database) => {
    const { oauth, store, user } = await open(t, database)
    for (const state of [' a  b ', 'a+b', '100%25', 'a&b=c', 'ü€😀\u2028', '"<>\\', 'x'.repeat(8192)]) {
      const request = await ask(oauth, { ...usual, state })
      const { location } = await oauth.authorization.approve(request, await addSession(store, user), testContext)
      assert.equal(new URL(location).searchParams.get('state'), state)
      assert.equal(new URL((await oauth.authorization.deny(request)).location).searchParams.get('state'), state)
    }
    const { location } = await oauth.authorization.approve(
      await ask(oauth, usual),
      await addSession(store, user),
      testContext,
    )
    assert.equal(new URL(location).searchParams.has('state'), false)
    for (const state of ['a+b', '%FF', '%zz', '%', 'a%2Bb', '%e4%F6', "'|x", 'x=y']) {
      const found = await oauth.authorization.check(`${toQuery(usual)}&state=${state}`)
      assert.equal(found.kind, 'ask')
      const { request } = found as Extract<typeof found, { kind: 'ask' }>
      assert.ok((await oauth.authorization.deny(request)).location.endsWith(`&state=${state}`), state)
    }
    const repeat = (name: string, value: string) => {
      const query = toQuery({ ...usual, state: 'x', resource: 'https://a.example' })
      query.append(name, value)
      return oauth.authorization.check(query)
    }
    // RFC 6749 section 3.1: unknown parameters are ignored; RFC 8707: this one may come several times.
    assert.equal((await repeat('resource', 'https://b.example')).kind, 'ask')
    for (const name of ['client_id', 'redirect_uri']) {
      const detail = `Duplicate ${name} parameter.`
      assert.deepEqual(await repeat(name, 'z'), { kind: 'refused', error: 'invalid_request', detail })
    }
    for (const name of ['state', 'scope', 'response_type']) {
      const found = await repeat(name, 'z')
      assert.equal(found.kind, 'redirect_error', name)
      const { searchParams } = new URL((found as Extract<typeof found, { kind: 'redirect_error' }>).location)
      assert.equal(searchParams.get('error_description'), `Duplicate ${name} parameter.`)
      assert.equal(searchParams.get('state'), name === 'state' ? null : 'x')
    }
  },
)

testEachDatabase(
  'T7: other errors, such as missing or weak challenges, are reported to the application',
  async (t, database) => {
    const { check } = await open(t, database)
    const cases: [Record<string, string | undefined>, string][] = [
      [{ ...usual, response_type: undefined }, 'invalid_request'],
      [{ ...usual, response_type: 'token' }, 'unauthorized_client'],
      [{ ...usual, response_type: 'code id_token' }, 'unsupported_response_type'],
      [{ ...usual, response_mode: 'fragment' }, 'invalid_request'],
      [{ ...usual, scope: 'nonsense' }, 'invalid_scope'],
      [{ ...usual, request: 'x' }, 'request_not_supported'],
      [{ ...usual, request_uri: 'https://x' }, 'request_uri_not_supported'],
      [{ ...usual, code_challenge: challenge }, 'invalid_request'],
      [{ ...usual, code_challenge: challenge, code_challenge_method: 'plain' }, 'invalid_request'],
      [{ ...usual, code_challenge: 'short', code_challenge_method: 'S256' }, 'invalid_request'],
      [{ ...usual, code_challenge_method: 'S256' }, 'invalid_request'],
      [installed, 'invalid_request'],
      [{ ...installed, code_challenge: challenge, code_challenge_method: 'plain' }, 'invalid_request'],
    ]
    for (const [query, error] of cases) {
      const found = await check({ ...query, state: 'a b' })
      assert.equal(found.kind, 'redirect_error', JSON.stringify(query))
      const { location } = found as Extract<typeof found, { kind: 'redirect_error' }>
      assert.ok(location.startsWith(`${query.redirect_uri}?error=`))
      const { searchParams } = new URL(location)
      assert.deepEqual(
        [searchParams.get('error'), searchParams.get('state'), searchParams.get('iss')],
        [error, 'a b', testIssuer],
      )
    }
  },
)

testEachDatabase('an application that was changed while the user decided gets no code', async (t, database) => {
  const { oauth, store, user } = await open(t, database)
  const request = await ask(oauth, usual)
  const { id } = (await store.applications.find('app'))!
  await store.applications.update(id, { redirectUris: ['https://app.example/other'] })
  await assert.rejects(oauth.authorization.approve(request, await addSession(store, user), testContext), {
    kind: 'conflict',
  })
  await store.applications.remove(id)
  await assert.rejects(oauth.authorization.approve(request, await addSession(store, user), testContext), {
    kind: 'conflict',
  })
})
