// What owners of the server manage of all accounts over the API.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccountsApi as open, password, time } from '../../test/support/api/temporary-accounts-api.ts'
import { tokenIn } from '../../test/support/auth/temporary-accounts.ts'
import {
  addApplication,
  askToken,
  createTemporaryOAuth,
  readPair,
  testPassword,
} from '../../test/support/auth/temporary-oauth.ts'

test('an owner’s own address and password take the present password, as everybody’s do', async (t) => {
  const { send, owner, takeMails } = await open(t)
  const path = `/v1/users/${owner.userId}/`
  const put = (body: unknown) => send('PUT', path, owner.authorization, body)
  for (const [body, fields] of [
    [{ email: 'eve@example.org' }, ['email']],
    [{ password: 'bald eagles hum' }, ['password']],
    [{ email: 'eve@example.org', password: 'bald eagles hum', first_name: 'Eve' }, ['email', 'password']],
  ] as const) {
    const { status, body: problem } = await put(body)
    assert.deepEqual([status, Object.keys(problem.errors)], [400, fields])
  }
  const kept = await put({ email: 'owner@example.org', first_name: 'Olga' })
  assert.deepEqual([kept.status, kept.body.email, kept.body.first_name], [200, 'owner@example.org', 'Olga'])
  assert.deepEqual(await takeMails(), [])
})

test('an address changed by an owner ends every link of before, and the former one is told', async (t) => {
  const { send, owner, ada, accounts, takeMails, events } = await open(t)
  await accounts.selfService.requestReset('ada@example.org')
  await accounts.selfService.requestEmailChange({
    userId: ada.userId,
    email: 'wished@example.org',
    password,
    proof: 'x',
  })
  const links = (await takeMails()).map(tokenIn)
  assert.equal(links.length, 2)
  const found = async () =>
    Promise.all(
      links.map(
        async (link) =>
          (await accounts.selfService.findReset(link)) ?? (await accounts.selfService.findEmailChange(link)),
      ),
    )
  assert.ok((await found()).every((link) => link !== undefined))
  const put = (body: object) =>
    send('PUT', `/v1/users/${ada.userId}/`, owner.authorization, { own_password: password, ...body })
  assert.equal((await put({ email: 'OWNER@example.org' })).status, 409)
  assert.ok((await found()).every((link) => link !== undefined))
  assert.equal((await put({ email: 'new@example.org', first_name: 'Augusta' })).body.email, 'new@example.org')
  assert.deepEqual(await found(), [undefined, undefined])
  const [notice, ...more] = await takeMails()
  assert.deepEqual([notice!.to, more], ['ada@example.org', []])
  assert.match(notice!.text, /new@example\.org/)
  const { userId, detail } = events.find(({ event }) => event === 'email.changed')!
  assert.deepEqual([userId, detail], [ada.userId, { former: 'ada@example.org', by_user: owner.userId }])
})

test('several changes of an account are one: all of them, or none', async (t) => {
  const { send, owner, ada, takeMails, events, login, store } = await open(t)
  const put = (body: object) =>
    send('PUT', `/v1/users/${ada.userId}/`, owner.authorization, { own_password: password, ...body })
  const before = await store.users.get(ada.userId)
  const all = { first_name: 'Augusta', password: 'bald eagles hum', is_owner: true, disabled: true }
  for (const [change, status] of [
    [{ email: 'owner@example.org' }, 409],
    [{ email: 'nobody' }, 400],
    [{ last_name: 'a\nb' }, 400],
    [{ password: '12345678' }, 400],
    [{ disabled: 'maybe' }, 400],
  ] as const) {
    assert.equal((await put({ ...all, ...change })).status, status, JSON.stringify(change))
    assert.deepEqual(await store.users.get(ada.userId), before)
  }
  const context = { ip: '192.0.2.1', userAgent: undefined }
  assert.ok(await login.verify({ email: 'ada@example.org', password, context }))
  assert.deepEqual(await takeMails(), [])
  const seen = events.length
  const { body } = await put({ ...all, email: 'new@example.org', phone: '' })
  assert.deepEqual([body.email, body.first_name, body.is_owner], ['new@example.org', 'Augusta', true])
  assert.match(body.disabled_at, time)
  assert.deepEqual(
    events.slice(seen).map(({ event, detail }) => [event, detail]),
    [
      ['login.ok', { via: 'account' }],
      ['password.changed', { personal_tokens_revoked: true, by_user: owner.userId }],
      ['email.changed', { former: 'ada@example.org', by_user: owner.userId }],
      ['user.changed', { owner: true, by_user: owner.userId }],
      ['user.changed', { fields: 'first_name phone', by_user: owner.userId }],
      ['user.disabled', { by_user: owner.userId }],
    ],
  )
  assert.deepEqual(
    (await takeMails()).map(({ to }) => to),
    ['ada@example.org', 'ada@example.org'],
  )
  // The last owner stays one, whatever else is asked for.
  const last = await send('PUT', `/v1/users/${owner.userId}/`, owner.authorization, {
    first_name: 'O',
    is_owner: false,
  })
  assert.equal(last.status, 409)
  assert.equal((await store.users.get(owner.userId)).firstName, 'Ada')
})

test('T17: an owner signs somebody out, and personal tokens only if wished for', async (t) => {
  const { send, owner, ada, events, store } = await open(t)
  const me = async (authorization: string) => (await send('GET', '/v1/me/', authorization)).status
  await addApplication(store, { ownerId: owner.userId })
  const oauth = createTemporaryOAuth(store)
  const sent = { grant_type: 'password', client_id: 'app', username: 'ada@example.org', password: testPassword }
  const grant = async () => `Bearer ${readPair(await askToken(oauth, sent)).access_token}`
  const first = await grant()
  const path = `/v1/users/${ada.userId}/sign-out/`
  assert.deepEqual([await me(first), await me(ada.authorization)], [200, 200])
  assert.equal((await send('POST', path, owner.authorization)).status, 204)
  assert.deepEqual([await me(first), await me(ada.authorization)], [401, 200])
  const second = await grant()
  assert.equal((await send('POST', path, owner.authorization, { revoke_personal_tokens: true })).status, 204)
  assert.deepEqual([await me(second), await me(ada.authorization), await me(owner.authorization)], [401, 401, 200])
  assert.equal((await send('POST', '/v1/users/999/sign-out/', owner.authorization)).status, 404)
  assert.deepEqual(
    events.filter(({ event }) => event === 'user.signed_out').map(({ userId, detail }) => [userId, detail]),
    [false, true].map((personal_tokens_revoked) => [ada.userId, { personal_tokens_revoked, by_user: owner.userId }]),
  )
})

test('T17, T44: owners manage users; others are told that they may not', async (t) => {
  const { send, owner, ada, takeMails, addCamera, events } = await open(t)
  const asOwner = (method: string, url: string, body?: unknown) => send(method, url, owner.authorization, body)
  for (const [method, url, body] of [
    ['GET', '/v1/users/'],
    ['POST', '/v1/users/', {}],
    ['POST', '/v1/users/invitations/', {}],
    ['GET', `/v1/users/${ada.userId}/`],
    ['PUT', '/v1/users/999/', {}],
    ['POST', `/v1/users/${owner.userId}/sign-out/`, {}],
    ['DELETE', `/v1/users/${owner.userId}/`],
  ] as const) {
    const { status, body: problem } = await send(method, url, ada.authorization, body)
    assert.deepEqual([status, problem.title], [403, 'permission_denied'], `${method} ${url}`)
  }
  const list = await asOwner('GET', '/v1/users/?limit=1')
  assert.deepEqual([list.body.count, list.body.results[0].is_owner], [2, true])
  assert.equal(list.body.next, 'https://nightjar.example:8443/v1/users/?limit=1&offset=1')
  const made = await asOwner('POST', '/v1/users/', {
    ...{ email: 'bob@example.org', password, first_name: 'Bob' },
    own_password: password,
  })
  assert.deepEqual(
    [made.status, made.body.first_name, made.body.is_owner, made.body.disabled_at],
    [201, 'Bob', false, null],
  )
  assert.equal(
    (await asOwner('POST', '/v1/users/', { email: 'BOB@example.org', password, own_password: password })).status,
    409,
  )
  assert.equal((await asOwner('POST', '/v1/users/', { email: 'c@example.org', password: 'letmein1' })).status, 400)
  const path = `/v1/users/${made.body.id}/`
  const changed = await asOwner('PUT', path, {
    is_owner: true,
    last_name: 'B',
    disabled: true,
    password: 'bald eagles hum',
    own_password: password,
  })
  assert.deepEqual([changed.body.is_owner, changed.body.last_name], [true, 'B'])
  assert.match(changed.body.disabled_at, time)
  assert.equal((await asOwner('PUT', `/v1/users/${owner.userId}/`, { is_owner: false })).status, 409)
  assert.equal((await asOwner('PUT', path, { disabled: false })).body.disabled_at, null)
  await takeMails()
  for (const email of ['ada@example.org', 'new@example.org']) {
    assert.equal((await asOwner('POST', '/v1/users/invitations/', { email })).status, 204)
  }
  assert.equal((await takeMails()).length, 2)
  await addCamera(made.body.id)
  assert.deepEqual(Object.keys((await asOwner('DELETE', path)).body.errors), ['own_password'])
  assert.equal((await asOwner('DELETE', '/v1/users/999/')).status, 404, 'before what the body lacks')
  const proof = { own_password: password }
  assert.equal((await asOwner('DELETE', path, proof)).status, 409)
  assert.equal((await asOwner('DELETE', `${path}?remove_cameras=true`, proof)).status, 204)
  assert.equal((await asOwner('GET', path)).status, 404)
  const { event, userId, subject, context, detail } = events.at(-1)!
  assert.deepEqual([event, userId, subject, detail], ['user.removed', made.body.id, 'bob@example.org', { by_user: owner.userId }]) // biome-ignore format: one line
  assert.equal(typeof context?.ip, 'string')
})

test('where owners need a second factor, tokens of an owner without one manage nothing of others, whenever they were made', async (t) => {
  const { send, owner, ada, store } = await open(t)
  await store.accounts.change(ada.userId, { isOwner: true })
  const asked = [
    ['GET', '/v1/users/', undefined],
    ['GET', '/v1/server/', undefined],
    ['PUT', `/v1/users/${owner.userId}/`, { disabled: true }],
    ['PUT', `/v1/users/${owner.userId}/storage/`, { max_bytes: 1 }],
    ['POST', `/v1/users/${owner.userId}/sign-out/`, {}],
    ['DELETE', `/v1/users/${owner.userId}/`, undefined],
  ] as const
  assert.equal((await send('GET', '/v1/users/', ada.authorization)).status, 200)
  await store.settings.setSecondFactorRequired(true)
  for (const [method, path, body] of asked) {
    const { status, body: problem } = await send(method, path, ada.authorization, body)
    assert.deepEqual([status, problem.title], [403, 'permission_denied'], `${method} ${path}`)
    assert.match(problem.detail, /need a second factor/)
  }
  assert.equal((await store.users.get(owner.userId)).disabledAtMs, null)
  // What is hers goes on.
  for (const path of ['/v1/me/', '/v1/cameras/', '/v1/me/tokens/']) {
    assert.equal((await send('GET', path, ada.authorization)).status, 200, path)
  }
  await store.settings.setSecondFactorRequired(false)
  assert.equal((await send('GET', '/v1/users/', ada.authorization)).status, 200)
})
