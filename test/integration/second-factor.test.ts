// An account with a second factor, at every place of a running server that accepts a password.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { computeHotp, stepAt, writeBase32 } from '../../server/auth/second-factor/totp.ts'
import { isPostgresUrl } from '../../server/store/postgres/postgres-url.ts'
import { readCodes, readSecret } from '../page-second-factors.ts'
import { PageVisitor } from '../page-visitor.ts'
import { ownerEmail as email, eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

const password = 'correct horse'

const codeNow = (secret: Uint8Array, later = 0) => computeHotp(secret, stepAt(Date.now()) + later)

async function setUp(server: ServerUnderTest, user = { email, password }) {
  const visitor = new PageVisitor(server)
  await visitor.signIn(user.email, user.password)
  await visitor.open('/account/second-factor/app/')
  const secret = readSecret(visitor.shown!.text)
  await visitor.submit({ code: codeNow(secret) })
  const recoveryCodes = readCodes(visitor.shown!.text)
  assert.equal(recoveryCodes.length, 10)
  return { visitor, secret, recoveryCodes }
}

/** Reads the link from the only email that has one; notices about the second factor have none. */
function readResetLink({ dataDir }: ServerUnderTest): Promise<string> {
  return eventually('an email with a link', 10_000, async () => {
    const files = await readdir(join(dataDir, 'outbox')).catch(() => [])
    const mails = await Promise.all(
      files.filter((file) => /^[^.].*\.eml$/.test(file)).map((file) => readFile(join(dataDir, 'outbox', file), 'utf8')),
    )
    return /https:\/\/\S+\/reset\/\?token=\w+/.exec(mails.join('\n'))?.[0] ?? false
  })
}

async function addApp(server: ServerUnderTest) {
  const args = ['app', 'add', '--user', email, '--name', 'Phone', '--redirect-uris', 'https://phone.example/cb']
  const { client_id } = await server.command<{ client_id: string }>(...args)
  const logIn = (secret = password) =>
    server.request<{ error: string; error_description: string; access_token: string }>('/oauth/token/', {
      method: 'POST',
      authorization: null,
      form: { grant_type: 'password', client_id, scope: 'user_access', username: email, password: secret },
    })
  return { logIn }
}

test('the password grant refuses accounts with a second factor and says so only after the right password', async () => {
  await using server = await openServerHere()
  const { logIn } = await addApp(server)
  const before = await logIn()
  assert.equal(before.status, 200)
  const { visitor } = await setUp(server)
  const wrong = await logIn('wrong wrong')
  assert.deepEqual(
    [wrong.status, wrong.json],
    [400, { error: 'invalid_grant', error_description: 'Invalid credentials given.' }],
  )
  const right = await logIn()
  assert.deepEqual([right.status, right.json.error], [400, 'invalid_grant'])
  assert.match(right.json.error_description, /second factor.*authorization code.*personal access token/)
  // Earlier grants stay valid.
  const authorization = `Bearer ${before.json.access_token}`
  assert.equal((await server.request('/v1/me/', { authorization })).status, 200)
  await visitor.open('/account/')
  assert.match(visitor.shown!.text, /Phone/)
  await server.command('user', 'remove-second-factor', email)
  assert.equal((await logIn()).status, 200)
})

test('the password grant refuses an owner who must set up a second factor first', async () => {
  await using server = await openServerHere()
  const { logIn } = await addApp(server)
  await server.command('user', 'require-second-factor')
  const { status, json } = await logIn()
  assert.deepEqual([status, json.error], [400, 'invalid_grant'])
  assert.match(json.error_description, /must set up a second factor first/)
  await server.command('user', 'require-second-factor', '--undo')
  assert.equal((await logIn()).status, 200)
})

test('a stolen token and the password are not enough for operations that require the second factor', async () => {
  await using server = await openServerHere()
  const attempts = () =>
    Promise.all([
      server.request('/v1/me/', { method: 'PUT', body: { password, new_password: 'bald eagles hum' } }),
      server.request('/v1/me/', { method: 'PUT', body: { password, email: 'thief@example.com' } }),
      server.request('/v1/me/tokens/', { method: 'POST', body: { password, scope: 'user_access account_manage' } }),
      server.request('/v1/users/', {
        method: 'POST',
        body: { own_password: password, email: 'eve@example.com', password: 'bald eagles hum', is_owner: true },
      }),
    ])
  await setUp(server)
  type Sessions = { results: { second_factor: string | null; second_factor_at: string | null }[] }
  const { json: sessions } = await server.request<Sessions>('/v1/me/sessions/')
  assert.deepEqual(
    sessions.results.map(({ second_factor }) => second_factor),
    ['app'],
  )
  for (const { status, text } of await attempts()) {
    assert.equal(status, 400, text)
    assert.match(text, /second factor/)
  }
  // Operations that need no password are not affected.
  assert.equal((await server.request('/v1/me/tokens/')).status, 200)
  assert.equal((await server.request('/v1/me/', { method: 'PUT', body: { last_name: 'Own' } })).status, 200)
  await server.command('user', 'remove-second-factor', email)
  const { status } = await server.request('/v1/me/tokens/', {
    method: 'POST',
    body: { password, scope: 'user_access account_manage' },
  })
  assert.equal(status, 201)
})

test('resetting the password by email keeps the second factor', async () => {
  await using server = await openServerHere()
  const { secret, recoveryCodes } = await setUp(server)
  const visitor = new PageVisitor(server)
  await visitor.open('/reset/')
  await visitor.submit({ email })
  const { pathname, search } = new URL(await readResetLink(server))
  await visitor.open(pathname + search)
  await visitor.submit({ password: 'green owls sing late' })
  assert.match(visitor.shown!.path, /^\/sign-in\/\?done=passwordChanged/)
  await visitor.signIn(email, 'green owls sing late')
  assert.match(visitor.shown!.path, /^\/second-factor\//)
  await visitor.open('/account/')
  assert.match(visitor.shown!.path, /^\/sign-in\//)
  await visitor.signIn(email, 'green owls sing late')
  await visitor.submit({ code: codeNow(secret, 1) })
  await visitor.open('/account/')
  assert.equal(visitor.shown!.path, '/account/')
  // Neither the secret nor the codes are in the database or the log in clear text.
  const seen = [server.log()]
  for (const file of await readdir(server.dataDir)) {
    if (/^nightjar\.db/.test(file)) seen.push(await readFile(join(server.dataDir, file), 'latin1'))
  }
  assert.ok(seen.length > 1 || isPostgresUrl(server.database))
  const secrets = [
    Buffer.from(secret).toString('latin1'),
    Buffer.from(secret).toString('base64url'),
    writeBase32(secret),
  ]
  for (const clear of [...secrets, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll('-', ''))]) {
    assert.ok(!seen.some((text) => text.includes(clear)))
  }
})

test('an owner with a confirmed password can remove the second factor of another user, who is notified and signed out', async () => {
  await using server = await openServerHere()
  const bob = { email: 'bob@example.com', password: 'bald eagles hum' }
  const added = await server.request<{ id: number; has_second_factor: boolean }>('/v1/users/', {
    method: 'POST',
    body: { ...bob, own_password: password },
  })
  assert.deepEqual([added.status, added.json.has_second_factor], [201, false])
  const { visitor } = await setUp(server, bob)
  const path = `/v1/users/${added.json.id}/`
  const hasOne = async () => (await server.request<{ has_second_factor: boolean }>(path)).json.has_second_factor
  assert.equal(await hasOne(), true)
  const remove = (body: object, at = path) => server.request(`${at}remove-second-factor/`, { method: 'POST', body })
  for (const body of [{}, { own_password: 'wrong wrong' }, { own_password: bob.password }]) {
    const { status, text } = await remove(body)
    assert.equal(status, 400, text)
    assert.match(text, /own_password/)
  }
  const me = await server.request<{ id: number }>('/v1/me/')
  assert.equal((await remove({ own_password: password }, `/v1/users/${me.json.id}/`)).status, 400)
  assert.equal(await hasOne(), true)
  assert.equal((await remove({ own_password: password })).status, 204)
  assert.equal(await hasOne(), false)
  // A second click has no effect.
  assert.equal((await remove({ own_password: password })).status, 404)
  assert.match((await visitor.open('/account/')).path, /^\/sign-in\//)
  // There is no second step.
  assert.equal((await visitor.signIn(bob.email, bob.password)).path, '/')
  assert.equal((await visitor.open('/account/')).path, '/account/')
  const mail = await eventually('an email about it', 10_000, async () => {
    const folder = join(server.dataDir, 'outbox')
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml'))
    const mails = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
    return mails.find((text) => /^Subject: The second factor of your Nightjar account was removed/m.test(text)) ?? false
  })
  assert.match(mail, /^To: bob@example\.com/m)
  // Not even with the password, once the owner has a second factor: a stolen token and a stolen password are one
  // factor.
  await setUp(server, bob)
  await setUp(server)
  const { status, text } = await remove({ own_password: password })
  assert.deepEqual([status, await hasOne()], [400, true], text)
})
