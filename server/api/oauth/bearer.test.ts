// Access tokens at the endpoints of /v1.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { endpointNames, endpoints } from '../../../contract/endpoints.ts'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import { openTemporaryApi } from '../../../test/support/api/temporary-api.ts'
import {
  addApplication,
  addUser,
  askRevoke,
  askToken,
  createTemporaryOAuth,
  readPair,
  testPassword,
} from '../../../test/support/auth/temporary-oauth.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { createOAuthSecret } from '../../auth/oauth/oauth-secrets.ts'
import { allScopes, covers, expandScopes } from '../../model/access.ts'

async function open(t: TestContext, { openStore }: TestDatabase) {
  const clock = new TestClock()
  const { store, api, addCamera } = await openTemporaryApi(t, { clock }, undefined, openStore)
  const oauth = createTemporaryOAuth(store, { clock })
  const user = await addUser(store)
  await addApplication(store, { ownerId: user.id, scopes: ['user_access', 'account_manage'] })
  const cameraId = await addCamera(user.id)
  const logIn = async (scope = 'user_access') =>
    readPair(
      await askToken(oauth, {
        grant_type: 'password',
        client_id: 'app',
        username: user.email,
        password: testPassword,
        scope,
      }),
    )
  const get = (url: string, authorization?: string) =>
    api.server.inject({ url, headers: authorization === undefined ? {} : { authorization } })
  return { store, api, clock, oauth, user, cameraId, logIn, get }
}

const problem = { status: 401, title: 'not_authenticated', detail: 'Authentication credentials were not provided.' }
const errors = { authorization: ['The token that was sent is invalid, expired or revoked.'] }
const plain = 'Bearer realm="api"'
/** Another last character. */
const mistype = (token: string) => token.slice(0, -1) + (token.endsWith('x') ? 'y' : 'x')
const invalidToken = 'Bearer realm="api", error="invalid_token", error_description="The access token is invalid."'

testEachDatabase(
  'T18: expired, refreshed, revoked, a refresh token, a mistyped one: each is the same refusal',
  async (t, database) => {
    const { oauth, clock, logIn, get } = await open(t, database)
    const [expired, refreshed, revoked] = [await logIn(), await logIn(), await logIn()]
    for (const { access_token } of [expired, refreshed, revoked]) {
      assert.equal((await get('/v1/me/', `Bearer ${access_token}`)).statusCode, 200)
      assert.equal((await get('/v1/me/', `bEARER  ${access_token}`)).statusCode, 200)
    }
    await askRevoke(oauth, { client_id: 'app', token: revoked.access_token })
    await askToken(oauth, { grant_type: 'refresh_token', client_id: 'app', refresh_token: refreshed.refresh_token })
    clock.skip(36_000_000)
    const fresh = await logIn()
    const cases: [string | undefined, string, object?][] = [
      [`Bearer ${expired.access_token}`, invalidToken],
      [`Bearer ${refreshed.access_token}`, invalidToken],
      [`Bearer ${revoked.access_token}`, invalidToken],
      [`Bearer ${fresh.refresh_token}`, invalidToken],
      [`Bearer ${mistype(fresh.access_token)}`, invalidToken],
      [`Bearer ${createOAuthSecret('access', randomBytes)}`, invalidToken],
      [`PersonalAccessToken ${fresh.access_token}`, plain, errors],
      [`Token ${fresh.access_token}`, plain],
      [fresh.access_token, plain],
      ['Bearer', plain],
      [undefined, plain],
    ]
    for (const [authorization, challenge, told = challenge === plain ? undefined : errors] of cases) {
      const response = await get('/v1/me/', authorization)
      const body = JSON.stringify({ ...problem, errors: told })
      assert.deepEqual([response.statusCode, response.body], [401, body], authorization)
      assert.equal(response.headers['www-authenticate'], challenge, authorization)
    }
    assert.equal((await get('/v1/me/', `Bearer ${fresh.access_token}`)).statusCode, 200)
  },
)

testEachDatabase(
  'an application whose owner is disabled is nobody, and its tokens open nothing',
  async (t, database) => {
    const { store, oauth, user, get } = await open(t, database)
    const runner = await addUser(store, 'runner@example.org')
    await addApplication(store, { clientId: 'other', ownerId: runner.id, isConfidential: false })
    const sent = { client_id: 'other', username: user.email, password: testPassword }
    const logIn = () => askToken(oauth, { ...sent, grant_type: 'password' })
    const first = readPair(await logIn())
    const [grant] = await store.grants.list(user.id)
    const statusOf = async () => (await get('/v1/me/', `Bearer ${first.access_token}`)).statusCode
    const asked = { response_type: 'code', client_id: 'other', redirect_uri: 'https://app.example/cb', scope: 'read' }
    const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' }
    const check = async () => (await oauth.authorization.check(new URLSearchParams({ ...asked, ...challenge }))).kind
    assert.deepEqual([await statusOf(), await check()], [200, 'ask'])

    await store.accounts.change(runner.id, { isDisabled: true })
    assert.deepEqual([await statusOf(), await check()], [401, 'refused'])
    const refresh = { client_id: 'other', grant_type: 'refresh_token', refresh_token: first.refresh_token }
    for (const answer of [await logIn(), await askToken(oauth, refresh)]) {
      assert.deepEqual([answer.status, JSON.parse(answer.body).error], [401, 'invalid_client'])
    }
    assert.equal(await store.grants.findEndMs(grant!.id), undefined)
    assert.equal((await store.grants.list(user.id)).length, 1) // to be seen and ended nevertheless

    await store.accounts.change(runner.id, { isDisabled: false })
    assert.deepEqual([await statusOf(), await check()], [200, 'ask'])
  },
)

testEachDatabase('T19: an access token in the query is no credential', async (t, database) => {
  const { logIn, get } = await open(t, database)
  const { access_token } = await logIn()
  assert.equal((await get(`/v1/me/?access_token=${access_token}`)).statusCode, 401)
})

testEachDatabase('T21: every scope at every endpoint', async (t, database) => {
  const { api, logIn, cameraId } = await open(t, database)
  for (const scope of [...allScopes, 'read write']) {
    const { access_token } = await logIn(scope)
    for (const name of endpointNames) {
      const { method, path, access } = endpoints[name]
      // What would be removed, or signed out, is not there: 404, if that is told at all.
      const camera = method === 'DELETE' ? '999999' : String(cameraId)
      const url = path.replace('{camera_id}', camera).replace(/\{\w+\}/g, method === 'GET' ? '1' : '999999')
      const response = await api.server.inject({ method, url, headers: { authorization: `Bearer ${access_token}` } })
      const isCovered = covers(expandScopes(scope.split(' ')), access)
      assert.equal(response.statusCode !== 403, isCovered, `${scope} ${method} ${path}`)
      if (method === 'DELETE' && isCovered) assert.equal(response.statusCode, 404, `${scope} ${method} ${path}`)
      if (isCovered) continue
      const challenge = `Bearer realm="api", error="insufficient_scope", scope="${access.all.join(' ')}"`
      assert.equal(response.headers['www-authenticate'], challenge)
      assert.equal(response.json().title, 'permission_denied')
    }
  }
})

testEachDatabase(
  'T39: media URLs answered to an application end with its grant, not with its access token',
  async (t, database) => {
    const { oauth, logIn, get, cameraId } = await open(t, database)
    const first = await logIn()
    const second = await logIn()
    const findUrl = async (access: string) => {
      const camera = (await get(`/v1/cameras/${cameraId}/`, `Bearer ${access}`)).json()
      return (camera.live_snapshot as string).replace('https://nightjar.example:8443', '')
    }
    const [url, other] = [await findUrl(first.access_token), await findUrl(second.access_token)]
    assert.notEqual(url, other)
    const statusOf = async (path: string) => (await get(path)).statusCode
    assert.equal(await statusOf(url), 503) // no camera is connected; the right to see it is there
    const next = readPair(
      await askToken(oauth, { grant_type: 'refresh_token', client_id: 'app', refresh_token: first.refresh_token }),
    )
    assert.equal(await statusOf(url), 503)
    await askRevoke(oauth, { client_id: 'app', token: next.access_token })
    assert.equal(await statusOf(url), 403)
    assert.equal(await statusOf(other), 503)
  },
)
