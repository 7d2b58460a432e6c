// What somebody can do with an owner's token but without the password.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testEachDatabase } from '../postgres/each-database.ts'
import { ownerEmail as email, eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

const password = 'correct horse'
const accountScope = 'user_access account_manage'

type Made = { id: number; token: string; scope: string }
type Problem = { title: string; errors?: Record<string, unknown> }

const bearerOf = (token: string) => `PersonalAccessToken ${token}`

function as(server: ServerUnderTest, authorization: string) {
  const send = <T>(method: string, path: string, body?: unknown) =>
    server.request<T>(path, { method, authorization, ...(body !== undefined && { body }) })
  return { send, meStatus: async () => (await send('GET', '/v1/me/')).status }
}

/** Creates a token with the account scopes, as an owner of the server. */
async function openAccountToken(server: ServerUnderTest) {
  const { token, id } = await server.command<Made>('token', 'create', '--user', email, '--scope', accountScope)
  return { id, ...as(server, bearerOf(token)) }
}

test('a token with default scopes cannot manage the account', async () => {
  await using server = await openServerHere()
  const usual = await server.command<Made>('token', 'create', '--user', email)
  assert.equal(usual.scope, 'user_access')
  const thief = as(server, bearerOf(usual.token))
  // The token can use the camera API, as existing programs expect.
  for (const path of ['/v1/me/', '/v1/cameras/', '/v1/shared-cameras/', '/v1/events/']) {
    assert.equal((await thief.send('GET', path)).status, 200, path)
  }
  const { json: me } = await thief.send<{ id: number }>('GET', '/v1/me/')
  for (const [method, path, body] of [
    ['GET', '/v1/me/tokens/'],
    ['POST', '/v1/me/tokens/', { scope: 'user_access' }],
    ['POST', '/v1/me/applications/', { name: 'Twin' }],
    ['GET', '/v1/me/sessions/'],
    ['GET', '/v1/users/'],
    ['POST', '/v1/users/', { email: 'eve@example.com', password: 'bald eagles hum', is_owner: true }],
    ['PUT', `/v1/users/${me.id}/`, { password: 'bald eagles hum' }],
    ['PUT', '/v1/me/', { new_password: 'bald eagles hum', password }],
  ] as const) {
    const { status, headers } = await thief.send(method, path, body)
    assert.equal(status, 403, `${method} ${path}`)
    assert.match(String(headers['www-authenticate']), /error="insufficient_scope", scope="account_manage"/)
  }
})

test("creating a token with account_manage, appointing owners and changing passwords of others require the caller's password", async () => {
  await using server = await openServerHere()
  const thief = await openAccountToken(server)
  type Account = { id: number; is_owner: boolean; email: string }
  await server.command('user', 'add', '--email', 'bob@example.com', '--password', 'hairy otters sing')
  const accounts = await thief.send<{ results: Account[] }>('GET', '/v1/users/')
  const bob = accounts.json.results.find((account) => account.email === 'bob@example.com')!
  const eve = { email: 'eve@example.com', password: 'bald eagles hum' }
  const attacks = [
    ['POST', '/v1/me/tokens/', { scope: accountScope }, 'password', 201],
    ['POST', '/v1/me/tokens/', { scope: 'account_manage' }, 'password', 201],
    ['POST', '/v1/users/', eve, 'own_password', 201],
    ['POST', '/v1/users/', { ...eve, email: 'eva@example.com', is_owner: true }, 'own_password', 201],
    ['PUT', `/v1/users/${bob.id}/`, { is_owner: true }, 'own_password', 200],
    ['PUT', `/v1/users/${bob.id}/`, { password: 'bald eagles hum' }, 'own_password', 200],
    // Whoever reads the account's email could request a new password.
    ['PUT', `/v1/users/${bob.id}/`, { email: 'mallory@example.com' }, 'own_password', 200],
  ] as const
  for (const [method, path, body, field] of attacks) {
    const { status, json } = await thief.send<Problem>(method, path, body)
    assert.deepEqual([status, Object.keys(json.errors ?? {})], [400, [field]], `${method} ${path}`)
  }
  // Not for each attack: wrong passwords count as failed logins, and after five of them the server enforces a delay.
  for (const [method, path, body, field] of [attacks[0], attacks[3], attacks[5]]) {
    const { status, json } = await thief.send<Problem>(method, path, { ...body, [field]: 'wrong horse' })
    assert.deepEqual([status, Object.keys(json.errors ?? {})], [400, [field]], `${method} ${path}`)
  }
  const now = await thief.send<{ results: Account[] }>('GET', '/v1/users/')
  assert.deepEqual(
    now.json.results.map((account) => [account.email, account.is_owner]),
    [
      [email, true],
      ['bob@example.com', false],
    ],
  )
  assert.equal((await thief.send<{ count: number }>('GET', '/v1/me/tokens/')).json.count, 2)
  for (const [method, path, body, field, done] of attacks) {
    assert.equal((await thief.send(method, path, { ...body, [field]: password })).status, done, `${method} ${path}`)
  }
  // Operations that grant no additional power are not affected.
  assert.equal((await thief.send('PUT', `/v1/users/${bob.id}/`, { first_name: 'Bob' })).status, 200)
  assert.equal((await thief.send('POST', '/v1/me/tokens/', { scope: 'read' })).status, 201)
})

test("weakening an application's protection and deleting a user require the caller's password", async () => {
  await using server = await openServerHere()
  const thief = await openAccountToken(server)
  await server.command('user', 'add', '--email', 'bob@example.com', '--password', 'hairy otters sing')
  const accounts = await thief.send<{ results: { id: number; email: string }[] }>('GET', '/v1/users/')
  const bob = accounts.json.results.find((account) => account.email === 'bob@example.com')!
  const uri = 'https://porch.example/back'
  const scope = ['--scope', 'read', '--redirect-uris', uri, '--require-secret', 'yes', '--allow-password', 'no']
  const app = await server.command<{ id: number }>('app', 'add', '--user', email, '--name', 'Porch', ...scope)
  const path = `/v1/me/applications/${app.id}/`
  const before = (await thief.send('GET', path)).json
  const attacks = [
    ['POST', '/v1/me/applications/', { name: 'Twin', redirect_uris: [uri] }, 'password', 201],
    ['PUT', path, { redirect_uris: [uri, 'https://thief.example/'] }, 'password', 200],
    ['PUT', path, { scope: 'user_access' }, 'password', 200],
    ['PUT', path, { allow_password: true }, 'password', 200],
    ['PUT', path, { require_secret: false }, 'password', 200],
    ['POST', `${path}rotate-secret/`, {}, 'password', 200],
    ['DELETE', `/v1/users/${bob.id}/`, {}, 'own_password', 204],
  ] as const
  for (const [method, at, body, field] of attacks) {
    const { status, json } = await thief.send<Problem>(method, at, body)
    assert.deepEqual([status, Object.keys(json.errors ?? {})], [400, [field]], `${method} ${JSON.stringify(body)}`)
  }
  const { status, json } = await thief.send<Problem>('DELETE', `/v1/users/${bob.id}/`, { own_password: 'wrong horse' })
  assert.deepEqual([status, Object.keys(json.errors ?? {})], [400, ['own_password']])
  assert.deepEqual((await thief.send('GET', path)).json, before)
  assert.equal((await thief.send('GET', `/v1/users/${bob.id}/`)).status, 200)
  // Changes that weaken nothing need no password.
  assert.equal((await thief.send('PUT', path, { name: 'Porch Light', redirect_uris: [uri] })).status, 200)
  assert.equal((await thief.send('PUT', path, { redirect_uris: [], scope: 'read' })).status, 200)
  for (const [method, at, body, field, done] of attacks) {
    assert.equal((await thief.send(method, at, { ...body, [field]: password })).status, done, `${method} ${at}`)
  }
  assert.equal((await thief.send('DELETE', path)).status, 204)
})

test('wrong passwords sent with a token are counted as failed logins', async () => {
  await using server = await openServerHere()
  const thief = await openAccountToken(server)
  const guess = (i: number) =>
    thief.send<Problem>('POST', '/v1/me/tokens/', { scope: accountScope, password: `wrong ${i}` })
  const statuses: number[] = []
  for (let i = 0; i < 8; i++) statuses.push((await guess(i)).status)
  assert.deepEqual(statuses.slice(0, 5), [400, 400, 400, 400, 400])
  assert.ok(statuses.slice(5).includes(429), `${statuses}`)
})

testEachDatabase(
  'revoking a token revokes all tokens that were created with it, directly or indirectly',
  async (t, { kind, create }) => {
    const place = await create(t)
    if (kind === 'PostgreSQL') {
      process.env.NIGHTJAR_DATABASE = place
      t.after(() => delete process.env.NIGHTJAR_DATABASE)
    }
    await using server = await openServerHere()
    const root = await openAccountToken(server)
    const make = async (maker: ReturnType<typeof as>, scope: string) => {
      const made = await maker.send<Made>('POST', '/v1/me/tokens/', { name: 'child', scope, password })
      assert.equal(made.status, 201, made.text)
      return { id: made.json.id, ...as(server, bearerOf(made.json.token)) }
    }
    const child = await make(root, accountScope)
    const grandchild = await make(child, 'user_access')
    const brother = await make(root, 'read')
    const statuses = async () => Promise.all([root, child, grandchild, brother].map((each) => each.meStatus()))
    assert.deepEqual(await statuses(), [200, 200, 200, 200])
    // The owner's own tokens stay valid.
    assert.equal((await root.send('DELETE', `/v1/me/tokens/${child.id}/`)).status, 204)
    assert.deepEqual(await statuses(), [200, 401, 401, 200])
    // Revoke on the command line, which is another process.
    await server.command('token', 'revoke', String(root.id))
    await eventually('everything created with the token is revoked', 10_000, async () => {
      const now = await statuses()
      return now.every((status) => status === 401)
    })
    assert.equal((await server.request('/v1/me/')).status, 200)
  },
)

test('revoking the grant of an application revokes the tokens that it created', async () => {
  await using server = await openServerHere()
  const app = await server.command<{ client_id: string; client_secret: string }>(
    ...['app', 'add', '--user', email, '--name', 'Keeper', '--scope', accountScope],
  )
  const form = { grant_type: 'password', client_id: app.client_id, username: email, password, scope: accountScope }
  const ask = (path: string, fields: Record<string, string>) =>
    server.request<{ access_token: string; refresh_token: string }>(path, {
      method: 'POST',
      authorization: null,
      form: fields,
    })
  const pair = (await ask('/oauth/token/', form)).json
  const keeper = as(server, `Bearer ${pair.access_token}`)
  assert.equal((await keeper.send('POST', '/v1/me/tokens/', { scope: accountScope })).status, 400)
  const made = await keeper.send<Made>('POST', '/v1/me/tokens/', { scope: accountScope, password })
  assert.equal(made.status, 201, made.text)
  const child = as(server, bearerOf(made.json.token))
  const grandchild = as(
    server,
    bearerOf((await child.send<Made>('POST', '/v1/me/tokens/', { scope: 'read' })).json.token),
  )
  assert.deepEqual([await child.meStatus(), await grandchild.meStatus()], [200, 200])
  // A refresh continues the same login.
  const refreshed = await ask('/oauth/token/', {
    grant_type: 'refresh_token',
    client_id: app.client_id,
    refresh_token: pair.refresh_token,
  })
  assert.equal(refreshed.status, 200)
  assert.deepEqual([await child.meStatus(), await grandchild.meStatus()], [200, 200])
  await ask('/oauth/token-revoke/', { client_id: app.client_id, token: refreshed.json.refresh_token })
  assert.deepEqual([await child.meStatus(), await grandchild.meStatus()], [401, 401])
  // It is no longer listed as valid.
  const owner = await openAccountToken(server)
  const list = await owner.send<{ results: { id: number }[] }>('GET', '/v1/me/tokens/')
  assert.ok(!list.json.results.some(({ id }) => id === made.json.id))
})
