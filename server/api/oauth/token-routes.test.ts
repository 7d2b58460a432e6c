import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { type TestDatabase, testEachDatabase } from '../../../test/postgres/each-database.ts'
import { openTemporaryApi, publicUrl } from '../../../test/support/api/temporary-api.ts'
import { createTemporaryAccounts } from '../../../test/support/auth/temporary-accounts.ts'
import {
  addApplication,
  addSession,
  addUser,
  createTemporaryOAuth,
  testContext,
  testPassword,
  testSecret,
} from '../../../test/support/auth/temporary-oauth.ts'
import { TestClock } from '../../../test/support/test-clock.ts'
import { RateLimits } from '../../auth/guard/rate-limits.ts'
import { createOAuthSecret } from '../../auth/oauth/oauth-secrets.ts'
import { hashPassword } from '../../auth/password.ts'
import { AppError } from '../../base/error.ts'
import type { Store } from '../../store/store.ts'
import type { ApiDeps } from '../deps.ts'

type Post = { type?: string; body?: string | Buffer; headers?: Record<string, string>; url?: string }

const formType = 'application/x-www-form-urlencoded'
const login = { grant_type: 'password', client_id: 'app', username: 'ada@example.org', password: testPassword }

async function open(
  t: TestContext,
  { openStore }: TestDatabase,
  parts: Partial<ApiDeps> = {},
  addParts?: (store: Store) => Partial<ApiDeps>,
) {
  const temporary = await openTemporaryApi(t, parts, addParts, openStore)
  const { store, api } = temporary
  const user = await addUser(store)
  const app = await addApplication(store, { ownerId: user.id })
  const post = ({ type = formType, body = '', headers, url = '/oauth/token/' }: Post) =>
    api.server.inject({ method: 'POST', url, headers: { 'content-type': type, ...headers }, payload: body })
  const postForm = (fields: Record<string, string>, rest: Post = {}) =>
    post({ ...rest, body: new URLSearchParams(fields).toString() })
  return { ...temporary, user, app, post, postForm }
}

function writeMultipart(fields: Record<string, string>): { type: string; body: Buffer } {
  const boundary = `x${randomBytes(8).toString('hex')}`
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${parts.join('')}--${boundary}--\r\n`),
  }
}

const refusal = (error: string, description?: string) => JSON.stringify({ error, error_description: description })

testEachDatabase(
  'T1, T2: the password grant, as a form of either kind, without a secret, with and without the slash',
  async (t, database) => {
    const { post, postForm } = await open(t, database)
    for (const response of [
      await postForm(login),
      await postForm(login, { url: '/oauth/token' }),
      await postForm(login, { type: `${formType}; charset=UTF-8` }),
      await post(writeMultipart(login)),
      await postForm({ ...login, client_secret: testSecret }),
      await postForm(login, {
        headers: { authorization: `Basic ${Buffer.from(`app:${testSecret}`).toString('base64')}` },
      }),
    ]) {
      assert.equal(response.statusCode, 200, response.body)
      assert.deepEqual(Object.keys(response.json()), [
        'access_token',
        'expires_in',
        'token_type',
        'scope',
        'refresh_token',
      ])
      assert.deepEqual([response.json().expires_in, response.json().token_type], [36_000, 'Bearer'])
      assert.equal(response.json().scope, 'read write')
      const { headers } = response
      assert.deepEqual(
        [headers['content-type'], headers['cache-control'], headers.pragma, headers['access-control-allow-origin']],
        ['application/json', 'no-store', 'no-cache', '*'],
      )
    }
  },
)

testEachDatabase('T1: a wrong password and an unknown user are one answer', async (t, database) => {
  const { postForm } = await open(t, database)
  for (const change of [{ password: 'wrong' }, { username: 'nobody@example.org' }]) {
    const response = await postForm({ ...login, ...change })
    assert.equal(response.statusCode, 400)
    assert.equal(response.body, refusal('invalid_grant', 'Invalid credentials given.'))
  }
})

testEachDatabase('errors are those that programs written for other servers know', async (t, database) => {
  const { post, postForm, store, app } = await open(t, database)
  const without = (name: string) => Object.fromEntries(Object.entries(login).filter(([key]) => key !== name))
  const refresh = { grant_type: 'refresh_token', client_id: 'app' }
  const cases: [Record<string, string>, number, string][] = [
    [{ ...login, scope: 'nonsense' }, 400, refusal('invalid_scope')],
    [without('password'), 400, refusal('invalid_request', 'Request is missing password parameter.')],
    [without('username'), 400, refusal('invalid_request', 'Request is missing username parameter.')],
    [{ ...login, password: '' }, 400, refusal('invalid_request', 'Request is missing password parameter.')],
    [refresh, 400, refusal('invalid_request', 'Missing refresh token parameter.')],
    [{ ...refresh, refresh_token: 'x' }, 400, refusal('invalid_grant')],
    [without('client_id'), 401, refusal('invalid_client')],
    [{ ...login, client_id: 'nobody' }, 401, refusal('invalid_client')],
    [{ ...login, client_secret: 'wrong' }, 401, refusal('invalid_client')],
    [without('grant_type'), 400, refusal('unsupported_grant_type')],
  ]
  for (const [fields, status, body] of cases) {
    const response = await postForm(fields)
    assert.deepEqual([response.statusCode, response.body], [status, body], JSON.stringify(fields))
    assert.equal(response.headers['content-type'], 'application/json')
    assert.equal(response.headers['cache-control'], 'no-store')
    const challenge = status === 401 ? 'Bearer error="invalid_client"' : undefined
    assert.equal(response.headers['www-authenticate'], challenge)
  }
  const json = await post({ type: 'application/json', body: JSON.stringify(login) })
  assert.deepEqual([json.statusCode, json.body], [400, refusal('unsupported_grant_type')])
  await store.applications.update(app.id, { allowsPassword: false })
  assert.equal((await postForm(login)).body, refusal('unauthorized_client'))
})

testEachDatabase('T5: grants that there are none of', async (t, database) => {
  const { postForm } = await open(t, database)
  for (const grant_type of ['client_credentials', 'implicit', '__proto__', 'constructor', 'PASSWORD', 'toString']) {
    const response = await postForm({ ...login, grant_type })
    assert.deepEqual([response.statusCode, response.body], [400, refusal('unsupported_grant_type')])
  }
})

testEachDatabase(
  'T4: whatever is sent is refused with an OAuth error, and a refresh token survives it',
  async (t, database) => {
    const { post, postForm } = await open(t, database)
    const { refresh_token } = (await postForm(login)).json()
    const good = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'app', refresh_token }).toString()
    const boundary = 'multipart/form-data; boundary=x'
    const part = (head: string, value: string) =>
      `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n--x--\r\n`
    const requests: Post[] = [
      { body: `${good}&client_id=app` },
      { body: `${good}&refresh_token=x` },
      { body: `${good}&scope=read&scope=read` },
      { body: `${good}&scope=%00` },
      { body: `${good}&x=${'y'.repeat(16_384)}` },
      { type: boundary, body: part('name="grant_type"; filename="f"', 'refresh_token') },
      { type: 'multipart/form-data', body: part('name="a"', 'b') },
      { type: boundary, body: '--x\r\n' },
      { type: boundary, body: part('name="a"', 'b').slice(0, 30) },
      { type: boundary, body: 'x'.repeat(17_000) },
      { type: 'text/plain', body: good },
      { type: '', body: good },
      { type: ';;;', body: good },
      { type: 'application/json', body: good },
      { body: Buffer.from([0xff, 0xfe, 0x00]) },
      { body: good, headers: { authorization: 'Basic !!!' } },
      { body: `${good}&client_secret=x`, headers: { authorization: `Basic ${btoa('app:y')}` } },
      { body: '' },
    ]
    for (const [i, request] of requests.entries()) {
      for (const url of ['/oauth/token/', '/oauth/token-revoke/']) {
        const response = await post({ ...request, url })
        assert.ok([400, 401].includes(response.statusCode), `${i}: ${response.statusCode} ${response.body}`)
        assert.match(response.json().error, /^(invalid_request|invalid_client|unsupported_grant_type)$/)
        assert.equal(response.headers['content-type'], 'application/json')
      }
    }
    assert.equal((await post({ body: `${good}&__proto__=x&constructor=y&resource=a&resource=b%00` })).statusCode, 200)
  },
)

testEachDatabase('T4: random bodies of any type are never our fault', async (t, database) => {
  const { post } = await open(t, database)
  const types = fc.constantFrom(formType, 'multipart/form-data; boundary=x', 'multipart/form-data; boundary="', 'x', '')
  const names = fc.constantFrom('grant_type', 'client_id', 'username', 'password', 'code', 'token', 'scope', 'x')
  const values = fc.oneof(
    fc.constantFrom('password', 'app', 'refresh_token', 'authorization_code'),
    fc.string({ unit: 'binary', maxLength: 50 }),
  )
  const pairs = fc.array(fc.tuple(names, values), { maxLength: 8 }).map((list) => {
    // Lone surrogates are no text that could be sent.
    return list.map((pair) => pair.map((text) => encodeURIComponent(text.toWellFormed())).join('=')).join('&')
  })
  const bodies = fc.oneof(
    pairs,
    fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
  )
  const urls = fc.constantFrom('/oauth/token/', '/oauth/token-revoke/')
  await fc.assert(
    fc.asyncProperty(types, bodies, urls, async (type, body, url) => {
      const response = await post({ type, body, url })
      assert.ok(response.statusCode < 500, `${response.statusCode} ${response.body}`)
      if (response.statusCode !== 200) assert.equal(typeof response.json().error, 'string')
    }),
    { numRuns: 300 },
  )
})

testEachDatabase('other methods are 405, empty, and tell which', async (t, database) => {
  const { api } = await open(t, database)
  for (const url of ['/oauth/token/', '/oauth/token', '/oauth/token-revoke/', '/oauth/token-revoke']) {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'] as const) {
      const response = await api.server.inject({ method, url: `${url}?client_id=app` })
      assert.deepEqual([response.statusCode, response.body, response.headers.allow], [405, '', 'POST, OPTIONS'], method)
    }
  }
  assert.equal((await api.server.inject({ method: 'POST', url: '/oauth/token/x' })).statusCode, 404)
})

testEachDatabase('T38: pages of any origin may ask for tokens, never with cookies', async (t, database) => {
  const { api, postForm } = await open(t, database)
  for (const url of ['/oauth/token/', '/oauth/token', '/oauth/token-revoke/']) {
    const response = await api.server.inject({ method: 'OPTIONS', url, headers: { origin: 'https://app.example' } })
    assert.equal(response.statusCode, 204)
    assert.equal(response.headers['access-control-allow-origin'], '*')
    assert.equal(response.headers['access-control-allow-methods'], 'POST, OPTIONS')
    assert.equal(response.headers['access-control-allow-headers'], '*, authorization')
    assert.equal(response.headers['access-control-allow-credentials'], undefined)
  }
  assert.equal((await postForm({})).headers['access-control-allow-origin'], '*')
})

testEachDatabase('T15: revoking answers nothing', async (t, database) => {
  const { postForm, post } = await open(t, database)
  const url = '/oauth/token-revoke/'
  const { access_token } = (await postForm(login)).json()
  for (const fields of [
    { client_id: 'app', token: access_token, token_type_hint: 'nonsense' },
    { client_id: 'app', token: 'unknown', token_type_hint: 'refresh_token' },
  ]) {
    const response = await postForm(fields, { url })
    assert.deepEqual([response.statusCode, response.body], [200, ''])
    assert.equal(response.headers['cache-control'], 'no-store')
    assert.equal((await post({ ...writeMultipart(fields), url })).statusCode, 200)
  }
  assert.equal(
    (await postForm({ client_id: 'app' }, { url })).body,
    refusal('invalid_request', 'Missing token parameter.'),
  )
  assert.equal((await postForm({ token: 'x' }, { url })).statusCode, 401)
})

testEachDatabase('T15: revoking a superseded token of either kind ends the log-in', async (t, database) => {
  const { postForm } = await open(t, database)
  const refresh = async (refresh_token: string) =>
    postForm({ grant_type: 'refresh_token', client_id: 'app', refresh_token })
  for (const kind of ['access_token', 'refresh_token'] as const) {
    const first = (await postForm(login)).json()
    const second = (await refresh(first.refresh_token)).json()
    const response = await postForm({ client_id: 'app', token: first[kind] }, { url: '/oauth/token-revoke/' })
    assert.deepEqual([response.statusCode, response.body], [200, ''])
    assert.deepEqual((await refresh(second.refresh_token)).json().error, 'invalid_grant')
  }
})

testEachDatabase('T14: the Idempotency-Key is a header', async (t, database) => {
  const { postForm } = await open(t, database)
  const { refresh_token } = (await postForm(login)).json()
  const refresh = { grant_type: 'refresh_token', client_id: 'app', refresh_token }
  const headers = { 'idempotency-key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"' }
  const [first, second] = [await postForm(refresh, { headers }), await postForm(refresh, { headers })]
  assert.equal(first.statusCode, 200)
  assert.equal(second.body, first.body)
  assert.equal((await postForm(refresh)).statusCode, 400)
})

testEachDatabase(
  'T30: after five wrong passwords the sixth attempt waits; from elsewhere the right one gets in',
  async (t, database) => {
    // With the real check of passwords, which the other tests here do without.
    const addParts = (store: Store): Partial<ApiDeps> => {
      const { login } = createTemporaryAccounts(store)
      return { oauth: createTemporaryOAuth(store, { login }) }
    }
    const { store, api } = await openTemporaryApi(t, {}, addParts, database.openStore)
    const user = await addUser(store)
    await store.accounts.change(user.id, { passwordHash: await hashPassword(testPassword) })
    await addApplication(store, { ownerId: user.id })
    const logIn = (password: string, remoteAddress = '192.0.2.7') =>
      api.server.inject({
        method: 'POST',
        url: '/oauth/token/',
        remoteAddress,
        headers: { 'content-type': formType },
        payload: new URLSearchParams({ ...login, password }).toString(),
      })
    for (let i = 0; i < 5; i++) assert.equal((await logIn(`wrong horse ${i}`)).body, refusal('invalid_grant', 'Invalid credentials given.')) // biome-ignore format: one line
    const delayed = await logIn(testPassword)
    assert.deepEqual([delayed.statusCode, delayed.json().error], [429, 'rate_limited'])
    assert.match(String(delayed.headers['retry-after']), /^\d+$/)
    assert.equal((await logIn(testPassword, '198.51.100.4')).statusCode, 200)
  },
)

testEachDatabase(
  'T3: a wrong secret is 401 whatever is asked for and however it is sent, and uses nothing up',
  async (t, database) => {
    const { postForm, store, user } = await open(t, database)
    const oauth = createTemporaryOAuth(store)
    const query = { response_type: 'code', client_id: 'app', redirect_uri: 'https://app.example/cb', scope: 'read' }
    const asked = await oauth.authorization.check(new URLSearchParams(query))
    assert.equal(asked.kind, 'ask')
    const { location } = await oauth.authorization.approve(asked.request, await addSession(store, user), testContext)
    const code = new URL(location).searchParams.get('code')!
    const { refresh_token, access_token } = (await postForm(login)).json()
    const requests: [Record<string, string>, string][] = [
      [{ grant_type: 'authorization_code', code, redirect_uri: query.redirect_uri }, '/oauth/token/'],
      [{ grant_type: 'refresh_token', refresh_token }, '/oauth/token/'],
      [{ grant_type: 'password', username: login.username, password: testPassword }, '/oauth/token/'],
      [{ token: access_token }, '/oauth/token-revoke/'],
    ]
    const basic = (secret: string) => ({ authorization: `Basic ${btoa(`app:${secret}`)}` })
    for (const [fields, url] of requests) {
      for (const wrong of [
        'wrong',
        `${testSecret}x`,
        testSecret.toUpperCase(),
        createOAuthSecret('clientSecret', randomBytes),
      ]) {
        const inBody = await postForm({ client_id: 'app', client_secret: wrong, ...fields }, { url })
        const inHeader = await postForm(fields, { url, headers: basic(wrong) })
        for (const response of [inBody, inHeader]) {
          assert.deepEqual([response.statusCode, response.body], [401, refusal('invalid_client')])
          assert.equal(response.headers['www-authenticate'], 'Bearer error="invalid_client"')
        }
      }
    }
    for (const [fields, url] of requests) {
      const response = await postForm(fields, { url, headers: basic(testSecret) })
      assert.equal(response.statusCode, 200, `${url} ${JSON.stringify(fields)} ${response.body}`)
    }
  },
)

testEachDatabase('T32: what comes too often is told when to come again', async (t, database) => {
  const limits = new RateLimits({ apiPerMinute: 0, tokenPerMinute: 2, clock: new TestClock() })
  const { postForm } = await open(t, database, { limits })
  await postForm(login)
  const second = await postForm(login)
  assert.equal(second.headers.ratelimit, '"default";r=0;t=60')
  const third = await postForm(login)
  assert.equal(third.statusCode, 429)
  assert.equal(third.json().error, 'rate_limited')
  assert.deepEqual([third.headers['retry-after'], third.headers['ratelimit-policy']], ['30', '"default";q=2;w=60'])
})

testEachDatabase(
  'a throttled or overloaded check of passwords, and a bug, keep the form of errors',
  async (t, database) => {
    const failures: [Error, number, string, string | undefined][] = [
      [new AppError('rate_limited', 'x', { retryAfterSeconds: 7 }), 429, 'rate_limited', '7'],
      [new AppError('unavailable', 'x', { retryAfterSeconds: 2 }), 503, 'temporarily_unavailable', '2'],
      [new Error('select * from secrets'), 500, 'server_error', undefined],
    ]
    for (const [failure, status, error, retryAfter] of failures) {
      const verify = async () => Promise.reject(failure)
      const addParts = (store: Store) => ({ oauth: createTemporaryOAuth(store, { login: { verify } }) })
      const { injectUnchecked } = await open(t, database, {}, addParts)
      const payload = new URLSearchParams(login).toString()
      const headers = { 'content-type': formType }
      const response = await injectUnchecked({ method: 'POST', url: '/oauth/token/', headers, payload })
      assert.deepEqual([response.statusCode, response.json().error], [status, error])
      assert.equal(response.headers['retry-after'], retryAfter)
      assert.ok(!response.body.includes('select'))
      assert.equal(response.headers['access-control-allow-origin'], '*')
    }
  },
)

testEachDatabase('the metadata document leads client libraries to everything', async (t, database) => {
  const { api } = await open(t, database)
  const response = await api.server.inject({ url: '/.well-known/oauth-authorization-server' })
  assert.equal(response.statusCode, 200)
  assert.equal(response.headers['access-control-allow-origin'], '*')
  const document = response.json()
  assert.equal(document.issuer, publicUrl)
  assert.equal(document.token_endpoint, `${publicUrl}/oauth/token/`)
  assert.deepEqual(document.code_challenge_methods_supported, ['S256'])
  assert.deepEqual(document.ui_locales_supported, ['en', 'de'])
  assert.equal(document.authorization_response_iss_parameter_supported, true)
})
