// Managing one's own account through the API.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccountsApi as open, password, time } from '../../test/support/api/temporary-accounts-api.ts'
import { tokenIn } from '../../test/support/auth/temporary-accounts.ts'
import { addApplication, askToken, createTemporaryOAuth, readPair } from '../../test/support/auth/temporary-oauth.ts'
import { Sessions } from '../auth/sessions/sessions.ts'
import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'

test('a personal token is made, shown once, listed without its value, used and revoked', async (t) => {
  const { send, ada, owner, events } = await open(t)
  const made = await send('POST', '/v1/me/tokens/', ada.authorization, { name: 'phone', scope: 'read' })
  assert.equal(made.status, 201)
  const { token, id } = made.body
  assert.match(token, /^njp_\w{36}$/)
  assert.deepEqual(Object.keys(made.body), [
    'id',
    'name',
    'scope',
    'prefix',
    'last_four',
    'created_at',
    'last_used_at',
    'expires_at',
    'token',
  ])
  assert.deepEqual([made.body.name, made.body.scope, made.body.last_four], ['phone', 'read', token.slice(-4)])
  const mine = `PersonalAccessToken ${token}`
  assert.equal((await send('GET', '/v1/me/', mine)).body.email, 'ada@example.org')
  const list = await send('GET', '/v1/me/tokens/?limit=1&offset=1', ada.authorization)
  assert.deepEqual([list.body.count, list.body.next, list.body.results[0].id], [2, null, id])
  assert.match(list.body.previous, /^https:\/\/nightjar\.example:8443\/v1\/me\/tokens\/\?limit=1$/)
  assert.match(list.body.results[0].created_at, time)
  assert.ok(!JSON.stringify(list.body).includes(token))
  assert.equal((await send('DELETE', `/v1/me/tokens/${id}/`, owner.authorization)).status, 404)
  assert.equal((await send('DELETE', `/v1/me/tokens/${id}/`, ada.authorization)).status, 204)
  assert.equal((await send('DELETE', `/v1/me/tokens/${id}/`, ada.authorization)).status, 404)
  assert.equal((await send('GET', '/v1/me/', mine)).status, 401)
  assert.deepEqual(
    events.filter(({ event }) => event.startsWith('pat.')).map(({ event, userId }) => [event, userId]),
    [
      ['pat.created', ada.userId],
      ['pat.revoked', ada.userId],
    ],
  )
})

test('a personal token may end by itself, at a time in the future', async (t) => {
  const { send, ada } = await open(t)
  const create = (expires_at: unknown) => send('POST', '/v1/me/tokens/', ada.authorization, { name: 'x', expires_at })
  assert.equal((await create('2999-12-31T00:00:00Z')).body.expires_at, '2999-12-31T00:00:00Z')
  assert.equal((await create(null)).body.expires_at, null)
  for (const wrong of ['2020-01-01T00:00:00Z', 'tomorrow', 5, '']) {
    const { status, body } = await create(wrong)
    assert.deepEqual([status, Object.keys(body.errors)], [400, ['expires_at']], String(wrong))
  }
})

test('T21: a token that may only read, or write, cameras neither sees nor makes credentials', async (t) => {
  const { send, addUser } = await open(t)
  for (const [i, scope] of ['read', 'write', 'read write', 'camera_manage'].entries()) {
    const { authorization } = await addUser(`weak${i}@example.org`, scope.split(' '))
    const paths = ['tokens', 'applications', 'authorizations', 'sessions'].map((name) => `/v1/me/${name}/`)
    for (const path of [...paths, '/v1/users/']) {
      const response = await send('GET', path, authorization)
      assert.equal(response.status, 403, `${scope} ${path}`)
      assert.match(String(response.headers['www-authenticate']), /insufficient_scope/)
    }
    assert.equal((await send('POST', '/v1/me/tokens/', authorization, {})).status, 403)
    const mayRename = scope === 'read write'
    assert.equal((await send('PUT', '/v1/me/', authorization, { first_name: 'x' })).status, mayRename ? 200 : 403)
  }
  const { authorization } = await addUser('both@example.org', ['read', 'write', 'account_manage'])
  assert.equal((await send('POST', '/v1/me/tokens/', authorization, { scope: 'user_access' })).status, 201)
  assert.deepEqual((await send('POST', '/v1/me/tokens/', authorization, { scope: 'all' })).body.errors.scope.length, 1)
})

test('an application keeps no access beyond its grant unless it was registered, and asked, for accounts', async (t) => {
  const { send, ada, owner, store, login } = await open(t)
  const oauth = createTemporaryOAuth(store, { login })
  await addApplication(store, { ownerId: owner.userId, isConfidential: false })
  const sent = { grant_type: 'password', client_id: 'app', username: 'ada@example.org', password }
  assert.equal((await askToken(oauth, { ...sent, scope: 'read account_manage' })).status, 400)
  const refused = ['read write', 'user_access'].map(async (scope) => {
    const bearer = `Bearer ${readPair(await askToken(oauth, { ...sent, scope })).access_token}`
    assert.equal((await send('PUT', '/v1/me/', bearer, { first_name: 'Augusta' })).status, 200)
    for (const [method, path, body] of [
      ['POST', '/v1/me/tokens/', {}],
      ['GET', '/v1/me/applications/'],
      ['POST', '/v1/me/applications/', { name: 'Twin' }],
      ['POST', '/v1/me/applications/1/rotate-secret/'],
      ['GET', '/v1/me/authorizations/'],
      ['DELETE', '/v1/me/sessions/x/'],
      ['POST', '/v1/users/', {}],
      ['PUT', `/v1/users/${ada.userId}/`, { is_owner: true }],
      ['PUT', '/v1/me/', { email: 'eve@example.org', password }],
      ['PUT', '/v1/me/', { new_password: 'bald eagles hum', password }],
    ] as const) {
      const response = await send(method, path, bearer, body)
      assert.equal(response.status, 403, `${scope} ${method} ${path}`)
      const challenge = 'Bearer realm="api", error="insufficient_scope", scope="account_manage"'
      assert.equal(response.headers['www-authenticate'], challenge)
    }
  })
  await Promise.all(refused)

  const scopes = ['user_access', 'account_manage']
  await addApplication(store, { clientId: 'keeper', ownerId: owner.userId, isConfidential: false, scopes })
  const usual = readPair(await askToken(oauth, { ...sent, client_id: 'keeper' }))
  assert.equal(usual.scope, 'read write')
  const asked = readPair(await askToken(oauth, { ...sent, client_id: 'keeper', scope: 'account_manage' }))
  const keeper = `Bearer ${asked.access_token}`
  assert.equal((await send('POST', '/v1/me/tokens/', keeper, {})).status, 400)
  const given = { scope: 'account_manage', password }
  assert.equal((await send('POST', '/v1/me/tokens/', keeper, given)).status, 201)
  assert.equal((await send('POST', '/v1/me/applications/', keeper, { name: 'Wide', password })).status, 400)
})

test('T17, T44: an application: registered, changed, its secret rotated, removed with what was granted', async (t) => {
  const { send, ada, owner, store, login, events } = await open(t)
  const oauth = createTemporaryOAuth(store, { login })
  const uri = 'https://app.example/cb'
  const made = await send('POST', '/v1/me/applications/', ada.authorization, {
    name: 'Bell',
    redirect_uris: [uri],
    password,
  })
  assert.equal(made.status, 201)
  const { id, client_id, client_secret } = made.body
  assert.match(client_secret, /^njcs_\w{49}$/)
  assert.deepEqual(
    [
      made.body.confidential,
      made.body.require_secret,
      made.body.allow_password,
      made.body.scope,
      made.body.redirect_uris,
    ],
    [true, false, true, 'user_access', [uri]],
  )
  const sent = { grant_type: 'password', client_id, username: 'ada@example.org', password }
  const first = readPair(await askToken(oauth, { ...sent, client_secret }))
  const bearer = `Bearer ${first.access_token}`
  assert.equal((await send('GET', '/v1/me/', bearer)).status, 200)

  const path = `/v1/me/applications/${id}/`
  for (const method of ['GET', 'PUT', 'DELETE']) {
    assert.equal(
      (await send(method, path, owner.authorization, method === 'PUT' ? { name: 'x' } : undefined)).status,
      404,
    )
  }
  assert.equal((await send('POST', `${path}rotate-secret/`, owner.authorization)).status, 404)
  const bad = { redirect_uris: ['javascript:alert(1)'], name: '' }
  assert.equal((await send('PUT', path, ada.authorization, bad)).status, 400)
  assert.deepEqual((await send('PUT', path, ada.authorization, { redirect_uris: uri })).body.errors, {
    redirect_uris: ['A JSON array is required, not a string.'],
  })
  assert.deepEqual((await send('PUT', path, ada.authorization, { redirect_uris: [uri, 7] })).body.errors, {
    redirect_uris: { 1: ['Not a valid string.'] },
  })
  const changed = await send('PUT', path, ada.authorization, { require_secret: true, redirect_uris: [uri, uri] })
  assert.deepEqual([changed.body.require_secret, changed.body.redirect_uris, changed.body.name], [true, [uri], 'Bell'])
  const rotated = await send('POST', `${path}rotate-secret/`, ada.authorization, { password })
  assert.deepEqual([rotated.status, rotated.body.client_secret === client_secret], [200, false])
  assert.equal((await askToken(oauth, { ...sent, client_secret })).status, 401)
  assert.equal((await askToken(oauth, { ...sent, client_secret: rotated.body.client_secret })).status, 200)
  assert.ok(!JSON.stringify((await send('GET', '/v1/me/applications/', ada.authorization)).body).includes('njcs_'))

  assert.equal((await send('GET', '/v1/me/authorizations/', ada.authorization)).body.count, 2)
  assert.equal((await send('DELETE', path, ada.authorization)).status, 204)
  assert.equal((await send('GET', '/v1/me/', bearer)).status, 401)
  assert.equal((await send('GET', path, ada.authorization)).status, 404)
  const noted = events.filter(({ event }) => event.startsWith('app.'))
  assert.deepEqual(
    noted.map(({ event, userId, subject, detail }) => [event, userId, subject, detail]),
    ['created', 'changed', 'secret_rotated', 'removed'].map((what) => [
      `app.${what}`,
      ada.userId,
      'Bell',
      { client_id },
    ]),
  )

  const open_ = await send('POST', '/v1/me/applications/', ada.authorization, {
    name: 'Phone',
    confidential: false,
    password,
  })
  assert.deepEqual([open_.body.client_secret, open_.body.confidential], [null, false])
  assert.equal(
    (await send('POST', `/v1/me/applications/${open_.body.id}/rotate-secret/`, ada.authorization)).status,
    400,
  )
})

test('T44: users see and end their authorizations and sessions, and nobody else’s', async (t) => {
  const { send, ada, owner, store, login } = await open(t)
  const oauth = createTemporaryOAuth(store, { login })
  const sessions = new Sessions({ rows: store.sessions, clock: systemClock, log: silentLogger })
  await addApplication(store, { ownerId: owner.userId, isConfidential: false })
  const sent = { grant_type: 'password', client_id: 'app', username: 'ada@example.org', password, scope: 'read' }
  const pair = readPair(await askToken(oauth, sent))
  const { results } = (await send('GET', '/v1/me/authorizations/', ada.authorization)).body
  const { id, ...shown } = results[0]
  assert.deepEqual(Object.keys(shown), [
    'application',
    'scope',
    'created_at',
    'last_used_at',
    'last_ip',
    'user_agent',
    'expires_at',
  ])
  assert.deepEqual([shown.application, shown.scope, shown.last_ip], [{ name: 'Doorbell' }, 'read', '192.0.2.7'])
  assert.equal((await send('DELETE', `/v1/me/authorizations/${id}/`, owner.authorization)).status, 404)
  assert.equal((await send('DELETE', `/v1/me/authorizations/${id}/`, ada.authorization)).status, 204)
  assert.equal((await send('GET', '/v1/me/', `Bearer ${pair.access_token}`)).status, 401)

  const session = await sessions.start(await store.users.get(ada.userId), { ip: '192.0.2.1', userAgent: 'Browser/1' })
  const list = (await send('GET', '/v1/me/sessions/', ada.authorization)).body
  const [{ user_agent, id: sessionId, is_current }] = list.results
  assert.deepEqual([list.count, user_agent, sessionId, is_current], [1, 'Browser/1', session.id, false])
  assert.equal((await send('DELETE', `/v1/me/sessions/${session.id}/`, owner.authorization)).status, 404)
  assert.equal((await send('DELETE', `/v1/me/sessions/${session.id}/`, ada.authorization)).status, 204)
  assert.equal(await sessions.find(session.cookie.split(';')[0]), undefined)
})

test('one’s own names at once, address and password with the present password', async (t) => {
  const { send, ada, takeMails, accounts, login } = await open(t)
  const put = (body: unknown) => send('PUT', '/v1/me/', ada.authorization, body)
  const named = await put({ first_name: ' Augusta ', phone: '+44 20', email: 'ADA@example.org' })
  assert.deepEqual(
    [named.status, named.body.first_name, named.body.phone, named.body.email],
    [200, 'Augusta', '+44 20', 'ada@example.org'],
  )
  assert.equal((await send('GET', '/v1/me/', ada.authorization)).body.first_name, 'Augusta')
  assert.equal((await put({ phone: '' })).body.phone, null)
  for (const [body, field] of [
    [{ first_name: 'a\nb' }, 'first_name'],
    [{ phone: 'call me' }, 'phone'],
    [{ email: 'new@example.org' }, 'password'],
    [{ new_password: 'bald eagles hum' }, 'password'],
    [{ new_password: 'bald eagles hum', password: 'wrong one' }, 'password'],
    [{ new_password: '12345678', password }, 'new_password'],
    [{ email: 'nobody', password }, 'email'],
  ] as const) {
    const { status, body: problem } = await put(body)
    assert.deepEqual([status, Object.keys(problem.errors)], [400, [field]], JSON.stringify(body))
  }
  assert.equal((await put({ email: 'new@example.org', password })).body.email, 'ada@example.org')
  const [mail] = await takeMails()
  await accounts.selfService.confirmEmail({ token: tokenIn(mail!), userId: ada.userId })
  assert.equal((await send('GET', '/v1/me/', ada.authorization)).body.email, 'new@example.org')
  assert.equal((await put({ new_password: 'bald eagles hum', password })).status, 200)
  const input = {
    email: 'new@example.org',
    password: 'bald eagles hum',
    context: { ip: '192.0.2.1', userAgent: undefined },
  }
  assert.ok(await login.verify(input))
  assert.equal(
    (await put({ new_password: password, password: 'bald eagles hum', revoke_personal_tokens: true })).status,
    200,
  )
  assert.equal((await send('GET', '/v1/me/', ada.authorization)).status, 401)
})

test('what was asked of one’s own account is asked for again after a wrong password, not done in part', async (t) => {
  const { send, ada, takeMails } = await open(t)
  const put = (body: unknown) => send('PUT', '/v1/me/', ada.authorization, body)
  const move = { email: 'new@example.org', password }
  assert.equal((await put({ ...move, new_password: '12345678' })).status, 400)
  assert.equal((await put({ email: 'nobody', password, new_password: 'bald eagles hum' })).status, 400)
  assert.deepEqual(await takeMails(), [])
  assert.equal((await put({ ...move, new_password: 'bald eagles hum' })).status, 200)
  const mails = await takeMails()
  assert.deepEqual(mails.map(({ to }) => to), ['ada@example.org', 'new@example.org']) // biome-ignore format: one line
})
