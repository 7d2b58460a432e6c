// What programs that speak this interface already read: statuses, words and headers, row by row, with those rows where this server differs
// on purpose.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openTemporaryApi } from '../../../test/support/api/temporary-api.ts'
import { addApplication, addUser, testPassword, testSecret } from '../../../test/support/auth/temporary-oauth.ts'

type Fields = Readonly<Record<string, string>>

async function open(t: TestContext) {
  const temporary = await openTemporaryApi(t)
  const user = await addUser(temporary.store)
  await addApplication(temporary.store, { ownerId: user.id })
  await addApplication(temporary.store, { ownerId: user.id, clientId: 'browser', allowsPassword: false })
  const post = (url: string, fields: Fields, headers: Fields = {}) =>
    temporary.api.server.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: String(new URLSearchParams(fields)),
    })
  return { ...temporary, user, post }
}

const password = { grant_type: 'password', client_id: 'app', username: 'ada@example.org', password: testPassword }
const without = (name: string, fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name))
const refresh = { grant_type: 'refresh_token', client_id: 'app' }
const code = {
  grant_type: 'authorization_code',
  client_id: 'app',
  client_secret: testSecret,
  redirect_uri: 'https://app.example/cb',
}

test('T40: the token endpoint answers programs as they know it', async (t) => {
  const { post, api } = await open(t)
  const first = await post('/oauth/token/', password)
  assert.equal(first.statusCode, 200)
  assert.equal(first.headers['content-type'], 'application/json')
  assert.deepEqual([first.headers['cache-control'], first.headers.pragma], ['no-store', 'no-cache'])
  const pair = first.json()
  assert.deepEqual([pair.expires_in, pair.token_type, pair.scope], [36_000, 'Bearer', 'read write'])
  let next = await post('/oauth/token/', { ...refresh, refresh_token: pair.refresh_token })
  next = await post('/oauth/token/', { ...refresh, refresh_token: next.json().refresh_token })
  assert.equal(next.statusCode, 200)

  const rows: [string, Fields, number, string, string?][] = [
    ['unknown scope', { ...password, scope: 'everything' }, 400, 'invalid_scope'],
    ['wrong password', { ...password, password: 'x' }, 400, 'invalid_grant', 'Invalid credentials given.'],
    ['unknown user', { ...password, username: 'no@body.example' }, 400, 'invalid_grant', 'Invalid credentials given.'],
    ['no password', without('password', password), 400, 'invalid_request', 'Request is missing password parameter.'],
    ['no username', without('username', password), 400, 'invalid_request', 'Request is missing username parameter.'],
    ['no refresh token', refresh, 400, 'invalid_request', 'Missing refresh token parameter.'],
    ['no client', without('client_id', password), 401, 'invalid_client'],
    ['unknown client', { ...password, client_id: 'nobody' }, 401, 'invalid_client'],
    ['wrong secret', { ...password, client_secret: 'x' }, 401, 'invalid_client'],
    ['no secret for a code', { ...without('client_secret', code), code: 'x' }, 401, 'invalid_client'],
    ['no grant type', without('grant_type', password), 400, 'unsupported_grant_type'],
    ['unknown grant type', { ...password, grant_type: 'client_credentials' }, 400, 'unsupported_grant_type'],
    ['grant not allowed', { ...password, client_id: 'browser' }, 400, 'unauthorized_client'],
    ['bad code', { ...code, code: 'x' }, 400, 'invalid_grant'],
    ['bad refresh token', { ...refresh, refresh_token: 'x' }, 400, 'invalid_grant'],
    [
      'wider scope',
      { ...refresh, refresh_token: next.json().refresh_token, scope: 'read write event_access nothing' },
      400,
      'invalid_scope',
    ],
  ]
  for (const [what, fields, status, error, description] of rows) {
    const answer = await post('/oauth/token/', fields)
    assert.equal(answer.statusCode, status, what)
    assert.equal(answer.json().error, error, what)
    if (description !== undefined) assert.equal(answer.json().error_description, description, what)
    assert.match(
      String(answer.headers['www-authenticate'] ?? ''),
      status === 401 ? /error="invalid_client"/ : /^$/,
      what,
    )
  }
  const again = await post('/oauth/token/', { ...refresh, refresh_token: next.json().refresh_token })
  assert.equal(again.statusCode, 200, 'a refused scope uses nothing up')
  const used = await post('/oauth/token/', { ...refresh, refresh_token: pair.refresh_token })
  assert.deepEqual([used.statusCode, used.json().error], [400, 'invalid_grant'])
  const json = { method: 'POST', url: '/oauth/token/', payload: password } as const
  const asJson = await api.server.inject(json)
  assert.deepEqual([asJson.statusCode, asJson.json().error], [400, 'unsupported_grant_type'])
  const get = await api.server.inject({ method: 'GET', url: '/oauth/token/' })
  assert.deepEqual([get.statusCode, get.headers.allow], [405, 'POST, OPTIONS'])
  // Different on purpose: no redirect to the slash, which would turn a POST into a GET.
  assert.equal((await post('/oauth/token', password)).statusCode, 200)

  const token = again.json().access_token
  const revoke = (fields: Fields) => post('/oauth/token-revoke/', fields)
  const none = await revoke({ client_id: 'app' })
  assert.deepEqual([none.statusCode, none.json().error, none.json().error_description], [400, 'invalid_request', 'Missing token parameter.']) // biome-ignore format: one line
  assert.deepEqual([(await revoke({ token, client_id: 'nobody' })).statusCode], [401])
  for (const fields of [{ token: 'unknown' }, { token, token_type_hint: 'odd' }, { token }]) {
    const answer = await revoke({ client_id: 'app', ...fields })
    assert.deepEqual([answer.statusCode, answer.body], [200, ''])
  }
})

test('T40: the interface answers programs as they know it', async (t) => {
  const { api, addCamera, addUser: addCaller } = await open(t)
  const { userId, authorization } = await addCaller('eve@example.org')
  for (const name of ['A', 'B', 'C']) await addCamera(userId, name)
  const ask = (url: string, method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' = 'GET', payload?: string) =>
    api.server.inject({
      method,
      url,
      headers: { authorization, ...(payload !== undefined && { 'content-type': 'application/json' }) },
      ...(payload !== undefined && { payload }),
    })
  const problem = async (answer: ReturnType<typeof ask>) => {
    const { statusCode, headers, json } = await answer
    const { title, detail, errors } = json()
    return { statusCode, allow: headers.allow, title, detail, errors }
  }
  const is = async (answer: ReturnType<typeof ask>, wanted: Record<string, unknown>) => {
    const found = await problem(answer)
    for (const [name, value] of Object.entries(wanted)) assert.deepEqual(found[name as 'title'], value, name)
  }

  await is(ask('/v1/cameras/999/'), { statusCode: 404, title: 'not_found', detail: 'Not found.' })
  await is(ask('/v1/cameras/x/'), { statusCode: 404, title: 'not_found' })
  await is(ask('/v1/cameras/9223372036854775808/'), { statusCode: 404 })
  await is(ask('/v1/nowhere/'), { statusCode: 404, title: 'not_found' })
  await is(ask('/v1/cameras/', 'PATCH'), {
    statusCode: 405,
    title: 'method_not_allowed',
    detail: 'Method "PATCH" not allowed.',
  })
  const owner = 'You do not have permission to perform this action.'
  await is(ask('/v1/users/', 'POST', '{}'), { statusCode: 403, title: 'permission_denied', detail: owner })

  const page = (query: string) => ask(`/v1/cameras/${query}`).then(({ json }) => json())
  const last = await page('?limit=1&offset=1&x=y')
  assert.deepEqual(Object.keys(last), ['count', 'next', 'previous', 'results'])
  assert.match(last.next, /^https:.*\/v1\/cameras\/\?limit=1&offset=2&x=y$/)
  assert.doesNotMatch(last.previous, /offset/, 'the first page has none')
  assert.deepEqual(await page('?limit=5&offset=99').then(({ results, next }) => [results, next]), [[], null])
  assert.equal((await page('?limit=&offset=')).results.length, 3, 'empty values count as absent')
  // Different on purpose: what is no number in range is said, not replaced.
  for (const query of ['?limit=x', '?limit=0', '?limit=-1', '?offset=-1', '?offset=x'])
    await is(ask(`/v1/cameras/${query}`), { statusCode: 400, title: 'invalid' })

  const required = ['This field is required.']
  await is(ask('/v1/cameras/', 'POST', '{}'), {
    statusCode: 400,
    title: 'invalid',
    errors: { name: required, url: required },
  })
  const guests = '/v1/cameras/1/guests/'
  const invite = (body: unknown) => ask(guests, 'POST', JSON.stringify(body))
  await is(invite({}), { errors: { email: required } })
  await is(invite({ email: null }), { errors: { email: ['This field may not be null.'] } })
  await is(invite({ email: '' }), { errors: { email: ['This field may not be blank.'] } })
  await is(invite({ email: 'x' }), { errors: { email: ['Enter a valid email address.'] } })
  await is(invite({ email: 'a@b.example', permissions: { can_view_rec: 'maybe' } }), {
    errors: { permissions: { can_view_rec: ['Must be a valid boolean.'] } },
  })
  for (const body of ['[]', '"x"', '1']) {
    const { statusCode, errors } = await problem(ask(guests, 'POST', body))
    assert.equal(statusCode, 400)
    assert.ok(errors.non_field_errors, body)
  }
  const broken = await problem(ask(guests, 'POST', '{'))
  assert.deepEqual([broken.statusCode, broken.title], [400, 'parse_error'])
  assert.match(broken.detail, /^JSON parse error - /)
  await is(ask('/v1/cameras/1/?refresh_rate=x'), { errors: { refresh_rate: ['A valid number is required.'] } })
  await is(ask('/v1/cameras/1/?max_width=x'), { errors: { max_width: ['A valid integer is required.'] } })
  await is(ask('/v1/cameras/1/?max_width=0'), {
    errors: { max_width: ['Ensure this value is greater than or equal to 1.'] },
  })
  for (const rate of ['NaN', 'Infinity', '-Infinity'])
    await is(ask(`/v1/cameras/1/?refresh_rate=${rate}`), { statusCode: 400 })
  assert.match(
    (await problem(ask('/v1/events/?start=yesterday'))).errors.start[0],
    /^Datetime has wrong format\. Use one of these formats instead: /,
  )

  const made = await invite({ email: 'friend@example.org', permissions: { can_view_rec: 'true' }, unknown: 1 })
  assert.deepEqual(
    [made.statusCode, made.json().permissions.can_view_rec],
    [201, true],
    'texts of booleans, unknown fields',
  )
  const removed = await ask(`${guests}${made.json().id}/`, 'DELETE')
  assert.deepEqual([removed.statusCode, removed.body], [204, ''])
})
