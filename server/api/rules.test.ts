// The rules that hold for everything under /v1, whatever the endpoint.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { endpointNames, endpoints } from '../../contract/endpoints.ts'
import { openTemporaryApi } from '../../test/support/api/temporary-api.ts'

type Request = { method?: string; url: string; authorization?: string; type?: string; body?: string }

async function openClient(t: TestContext) {
  const temporary = await openTemporaryApi(t)
  const owner = await temporary.addUser('owner@example.com', ['user_access', 'account_manage'])
  const send = ({ method = 'GET', url, authorization, type, body }: Request) =>
    temporary.api.server.inject({
      method: method as 'GET',
      url,
      headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
      ...(body !== undefined && { payload: body }),
    })
  const asOwner = (url: string, rest: Omit<Request, 'url'> = {}) =>
    send({ url, authorization: owner.authorization, ...rest })
  return { ...temporary, owner, send, asOwner }
}

const anyPath = (path: string) => path.replace(/\{\w+\}/g, '1')

test('a stranger gets the same 401 from every endpoint, whatever else is wrong', async (t) => {
  const { send } = await openClient(t)
  for (const name of endpointNames) {
    const { method, path } = endpoints[name]
    for (const url of [
      anyPath(path),
      anyPath(path).replace(/\/$/, ''),
      `${anyPath(path)}?limit=x&start=x&max_width=0`,
    ]) {
      const response = await send({ method, url, type: 'text/plain', body: method === 'GET' ? undefined! : '{' })
      assert.equal(response.statusCode, 401, `${method} ${url}`)
      assert.equal(response.headers['www-authenticate'], 'Bearer realm="api"')
      assert.equal(response.headers['content-type'], 'application/json')
      assert.equal(
        response.body,
        '{"status":401,"title":"not_authenticated","detail":"Authentication credentials were not provided."}',
      )
    }
  }
})

test('T18: each kind of bad credentials has its exact challenge', async (t) => {
  const { send, owner } = await openClient(t)
  const value = owner.authorization.split(' ')[1]!
  const invalidToken = 'Bearer realm="api", error="invalid_token", error_description="The access token is invalid."'
  const cases: [string | undefined, string][] = [
    [undefined, 'Bearer realm="api"'],
    ['', 'Bearer realm="api"'],
    ['Basic YTpi', 'Bearer realm="api"'],
    ['Bearer', 'Bearer realm="api"'],
    ['Bearer nonsense', invalidToken],
    ['bEaReR nonsense', invalidToken],
    [`Bearer ${value}`, invalidToken],
    ['PersonalAccessToken', 'Bearer realm="api"'],
    ['PersonalAccessToken njp_000000000000000000000000000000000000', 'Bearer realm="api"'],
    [`PersonalAccessToken ${value.slice(0, -1)}`, 'Bearer realm="api"'],
    [`PersonalAccessToken  ${value} x`, 'Bearer realm="api"'],
  ]
  for (const [authorization, challenge] of cases) {
    const response = await send({ url: '/v1/me/', ...(authorization !== undefined && { authorization }) })
    assert.equal(response.statusCode, 401, authorization)
    assert.equal(response.headers['www-authenticate'], challenge, authorization)
    assert.equal(response.json().title, 'not_authenticated')
  }
  assert.equal((await send({ url: '/v1/me/', authorization: owner.authorization })).statusCode, 200)
  assert.equal((await send({ url: '/v1/me/', authorization: `personalaccesstoken ${value}` })).statusCode, 200)
})

test('T19: a token in the query is no credential', async (t) => {
  const { send, owner } = await openClient(t)
  const value = owner.authorization.split(' ')[1]!
  assert.equal((await send({ url: `/v1/me/?access_token=${value}` })).statusCode, 401)
})

test('a token without the scope gets 403 before any lookup', async (t) => {
  const { send, addUser, owner, addCamera } = await openClient(t)
  const reader = await addUser('reader@example.com', ['read'])
  const cameraId = await addCamera(reader.userId)
  const cases: [Request, string][] = [
    [{ method: 'DELETE', url: `/v1/cameras/${cameraId}/` }, 'read write'],
    [{ method: 'DELETE', url: '/v1/cameras/999/' }, 'read write'],
    [{ method: 'POST', url: '/v1/cameras/', body: '{', type: 'application/json' }, 'read write'],
  ]
  for (const [request, scope] of cases) {
    const response = await send({ ...request, authorization: reader.authorization })
    assert.equal(response.statusCode, 403)
    assert.equal(
      response.headers['www-authenticate'],
      `Bearer realm="api", error="insufficient_scope", scope="${scope}"`,
    )
    assert.deepEqual(response.json(), {
      status: 403,
      title: 'permission_denied',
      detail: 'You do not have permission to perform this action.',
      errors: { scope: ['The token needs the scopes: read write.'] },
    })
  }
  const part = await addUser('part@example.com', ['camera_access'])
  assert.equal((await send({ url: '/v1/cameras/', authorization: part.authorization })).statusCode, 200)
  assert.equal((await send({ url: '/v1/me/', authorization: part.authorization })).statusCode, 403)
  assert.equal((await send({ url: '/v1/me/', authorization: owner.authorization })).statusCode, 200)
})

test('404 comes before 400, and an unknown path is 404', async (t) => {
  const { asOwner, send } = await openClient(t)
  for (const url of [
    '/v1/cameras/999/?max_width=0',
    '/v1/cameras/abc/',
    '/v1/cameras/1.5/',
    '/v1/cameras/-1/',
    '/v1/cameras/99999999999999999999/',
    '/v1/cameras/9223372036854775808/',
    '/v1/cameras/%zz/',
    `/v1/cameras/${'9'.repeat(2000)}/`,
    '/v1/cameras/1/recording/timeline/',
    '/v1/nowhere/',
    '/v1/',
    '/v1',
    '/nowhere',
  ]) {
    const response = await asOwner(url)
    assert.equal(response.statusCode, 404, url)
    assert.equal(response.body, '{"status":404,"title":"not_found","detail":"Not found."}', url)
    assert.equal(response.headers['content-type'], 'application/json')
    assert.equal(response.headers['access-control-allow-origin'], '*')
  }
  assert.equal((await send({ url: '/v1/nowhere/' })).statusCode, 404)
  assert.equal((await asOwner('/v1/me/sessions/%00/', { method: 'DELETE' })).statusCode, 404)
  const change = { type: 'application/json', body: '{' }
  assert.equal((await asOwner('/v1/cameras/999/', { method: 'PUT', ...change })).statusCode, 404)
  assert.equal((await asOwner('/v1/cameras/999/', { method: 'PUT', type: 'text/plain', body: 'x' })).statusCode, 404)
})

test("another user's camera is indistinguishable from one that does not exist", async (t) => {
  const { asOwner, addUser, addCamera, store } = await openClient(t)
  const other = await addUser('other@example.com')
  const foreign = await addCamera(other.userId)
  await store.recordings.enable(foreign, { retention: 'P7D', maxBytes: null })
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['GET', 'recording/'],
    ['POST', 'recording/'],
    ['PUT', 'recording/'],
    ['DELETE', 'recording/'],
    ['GET', 'recording/timeline/?start=2026-01-01T00:00Z&end=2026-01-01T01:00Z'],
    ['GET', 'recording/stream/?start=2026-01-01T00:00Z'],
  ] as const) {
    const answers = await Promise.all([foreign, 424242].map((id) => asOwner(`/v1/cameras/${id}/${path}`, { method })))
    const [one, two] = answers.map(({ statusCode, body, headers: { date: _, ...headers } }) => ({
      statusCode,
      body,
      headers,
    }))
    assert.equal(one!.statusCode, 404, `${method} ${path}`)
    assert.deepEqual(one, two)
  }
})

test('a wrong method is 405 with Allow, for authorized callers', async (t) => {
  const { asOwner, send } = await openClient(t)
  const cases: [string, string, string][] = [
    ['PATCH', '/v1/me/', 'GET, HEAD, PUT, OPTIONS'],
    ['DELETE', '/v1/me', 'GET, HEAD, PUT, OPTIONS'],
    ['PUT', '/v1/cameras/', 'GET, HEAD, POST, OPTIONS'],
    ['POST', '/v1/cameras/5/', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['PROPFIND', '/v1/cameras/5/', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    // Not those of a path with a parameter in the same place.
    ['PUT', '/v1/cameras/onvif-discovery/', 'POST, OPTIONS'],
    ['DELETE', '/v1/cameras/onvif-profiles/', 'POST, OPTIONS'],
    ['PUT', '/v1/cameras/stream-detection', 'POST, OPTIONS'],
    ['GET', '/v1/cameras/stream-detection/', 'POST, OPTIONS'],
  ]
  for (const [method, url, allow] of cases) {
    const response = await asOwner(url, { method })
    assert.equal(response.statusCode, 405, `${method} ${url}`)
    assert.equal(response.headers.allow, allow)
    assert.deepEqual(response.json(), {
      status: 405,
      title: 'method_not_allowed',
      detail: `Method "${method}" not allowed.`,
    })
    assert.equal((await send({ method, url })).statusCode, 401)
  }
})

test('an invalid Content-Type does not change the order of checks', async (t) => {
  const { asOwner, send } = await openClient(t)
  for (const type of ['garbage', ';;', 'a/b/c', ' ', 'application/json']) {
    for (const [method, url, status] of [
      ['POST', '/v1/me/', 405],
      ['POST', '/v1/nowhere/', 404],
      ['PUT', '/v1/cameras/999/', 404],
      ['DELETE', '/v1/cameras/999/', 404],
      ['POST', '/recording/streams/ffff/play/', 404],
    ] as const) {
      assert.equal((await asOwner(url, { method, type, body: '{' })).statusCode, status, `${type} ${method} ${url}`)
      const stranger = await send({ url, method, type, body: '{' })
      const isOpen = url.includes('nowhere') || url.startsWith('/recording')
      assert.equal(stranger.statusCode, isOpen ? 404 : 401, `${type} ${method} ${url}`)
    }
    const post = await asOwner('/v1/cameras/', { method: 'POST', type, body: '{}' })
    assert.equal(post.statusCode, type === 'application/json' ? 400 : 415, type)
  }
})

test('a body must be JSON, small and flat; a GET may carry an empty one', async (t) => {
  const { asOwner } = await openClient(t)
  const post = (body: string, type = 'application/json') => asOwner('/v1/cameras/', { method: 'POST', body, type })
  const cases: [Awaited<ReturnType<typeof post>>, number, string][] = [
    [await post('{"name":'), 400, 'parse_error'],
    [await post('\u0000'), 400, 'parse_error'],
    [await post(`${'['.repeat(30_000)}${']'.repeat(30_000)}`), 400, 'parse_error'],
    [await post('name=x', 'application/x-www-form-urlencoded'), 415, 'unsupported_media_type'],
    [await post('{}', 'text/plain'), 415, 'unsupported_media_type'],
    [await post('{}', 'nonsense'), 415, 'unsupported_media_type'],
    [await post(`{"name":"${'x'.repeat(70_000)}"}`), 413, 'payload_too_large'],
    [await post('[]'), 400, 'invalid'],
    [await post('"x"'), 400, 'invalid'],
    [await post('null'), 400, 'invalid'],
    [await asOwner('/v1/cameras/', { method: 'POST' }), 400, 'invalid'],
  ]
  for (const [response, status, title] of cases) {
    assert.equal(response.statusCode, status, response.body)
    assert.equal(response.json().title, title)
    assert.equal(response.json().status, status)
    assert.equal(typeof response.json().detail, 'string')
    assert.equal(response.headers['content-type'], 'application/json')
    assert.equal(response.headers['access-control-allow-origin'], '*')
  }
  for (const body of [undefined, '', 'null']) {
    const response = await asOwner('/v1/me/', { type: 'application/json', ...(body !== undefined && { body }) })
    assert.equal(response.statusCode, 200)
  }
})

test('with and without the slash, directly, and HEAD like GET', async (t) => {
  const { asOwner } = await openClient(t)
  for (const url of ['/v1/me/', '/v1/me', '/v1/cameras/', '/v1/cameras', '/v1/cameras?limit=1']) {
    const [get, head] = [await asOwner(url), await asOwner(url, { method: 'HEAD' })]
    assert.equal(get.statusCode, 200, url)
    assert.equal(get.headers['content-type'], 'application/json')
    assert.equal(head.statusCode, 200)
    assert.equal(head.body, '')
    assert.equal(head.headers['content-length'], String(get.body.length))
  }
})

test('T38: any page may ask, and preflights pass without credentials', async (t) => {
  const { send, asOwner } = await openClient(t)
  for (const url of ['/v1/me/', '/v1/me', '/v1/cameras/5/recording/', '/media/cameras/5/live.mjpeg', '/recording/x']) {
    const response = await send({ method: 'OPTIONS', url })
    assert.equal(response.statusCode, 204, url)
    assert.equal(response.headers['access-control-allow-origin'], '*')
    // Any header, such as traceparent; a star does not cover this one.
    assert.equal(response.headers['access-control-allow-headers'], '*, authorization')
    assert.equal(response.headers['access-control-allow-credentials'], undefined)
    assert.match(String(response.headers['access-control-allow-methods']), /GET.*POST.*PUT.*DELETE/)
  }
  for (const response of [await asOwner('/v1/me/'), await send({ url: '/v1/me/' }), await asOwner('/v1/nowhere')]) {
    assert.equal(response.headers['access-control-allow-origin'], '*')
    assert.equal(
      response.headers['access-control-expose-headers'],
      'content-range, etag, ratelimit, ratelimit-policy, retry-after, www-authenticate',
    )
    assert.equal(response.headers['access-control-allow-credentials'], undefined)
    assert.equal(response.headers['cache-control'], 'no-store')
    assert.equal(response.headers['x-content-type-options'], 'nosniff')
  }
})

test('an internal error does not reveal its cause', async (t) => {
  const { injectUnchecked, store, owner } = await openClient(t)
  store.users.get = async () => {
    throw new Error('select * from secrets')
  }
  const response = await injectUnchecked({ url: '/v1/me/', headers: { authorization: owner.authorization } })
  assert.equal(response.statusCode, 500)
  assert.deepEqual(response.json(), {
    status: 500,
    title: 'internal_error',
    detail: 'The server could not answer.',
  })
})

test('a change without a body is 400, one that changes nothing is not', async (t) => {
  const { asOwner } = await openClient(t)
  const response = await asOwner('/v1/me/', { method: 'PUT' })
  assert.deepEqual([response.statusCode, response.json().title], [400, 'parse_error'])
  assert.match(response.json().detail, /body is missing/)
  assert.equal((await asOwner('/v1/me/', { method: 'PUT', type: 'application/json', body: '{}' })).statusCode, 200)
})
