// Further proofs that users of an identity provider must give, on the real server: the second factor, and what replaces
// the password of an account without one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMailedLink } from '../e2e/outbox.ts'
import { openLyingProvider } from '../identity/lying-provider.ts'
import { writeProviderFile } from '../identity/provider-file.ts'
import { agePasswords, back, press, signedInAs, signIn, verified } from '../identity/provider-visits.ts'
import { appPath, codeAt, readCodes, readSecret } from '../page-second-factors.ts'
import { PageVisitor } from '../page-visitor.ts'
import { queryDatabase } from '../query-database.ts'
import { openServerHere } from '../server-under-test.ts'

test('in an account without a password, the last sign-in method cannot be removed, and a recent sign-in replaces the password', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServerHere(...file.args, '--sign-up', 'open')
  const claims = verified('ada@example.org')
  const browser = new PageVisitor(server)
  await signIn(browser, provider, { claims })
  // Operations that require the password redirect to the provider, and an old sign-in there is not accepted.
  const asks = await browser.open('/account/providers/')
  assert.match(asks.path, /^\/confirm\//)
  assert.doesNotMatch(asks.text, /name="password"/)
  const location = await press(browser)
  const { searchParams } = new URL(location)
  assert.deepEqual([searchParams.get('prompt'), searchParams.get('max_age')], ['login', '0'])
  const nowS = Math.floor(Date.now() / 1000)
  for (const auth_time of [undefined, nowS - 3600]) {
    await browser.open('/account/providers/')
    const old = await browser.open(
      `${back}?${provider.authorize(await press(browser), { claims: { ...claims, auth_time } })}`,
    )
    assert.equal(old.status, 403, String(auth_time))
  }
  // A recent sign-in of a different user is not accepted either.
  await browser.open('/account/providers/')
  const others = { ...verified('eve@example.org', 'person-2'), auth_time: nowS }
  assert.equal(
    (await browser.open(`${back}?${provider.authorize(await press(browser), { claims: others })}`)).status,
    400,
  )
  await browser.open('/account/providers/')
  const fresh = await browser.open(
    `${back}?${provider.authorize(await press(browser), { claims: { ...claims, auth_time: nowS } })}`,
  )
  assert.match(fresh.text, /Linked accounts/)

  // The only sign-in method cannot be removed.
  await browser.submit({}, '/account/providers/')
  assert.equal(browser.shown!.status, 409)
  assert.match(browser.shown!.text, /Set a password first/)
  assert.equal((await queryDatabase(server, 'select * from identities')).length, 1)

  // After a password was set by email, the link can be removed.
  await browser.open('/account/password/')
  await browser.submit({})
  const link = new URL(await readMailedLink(server, 'ada@example.org'))
  await browser.open(link.pathname + link.search)
  await browser.submit({ password: 'green owls sing late' })
  await browser.signIn('ada@example.org', 'green owls sing late')
  await browser.open('/account/providers/')
  await browser.submit({}, '/account/providers/')
  assert.match(browser.shown!.text, /The link has been removed/)
})

test('a program of an account without a password gets an error that asks for a password to be set', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServerHere(...file.args, '--sign-up', 'open')
  await signIn(new PageVisitor(server), provider, { claims: verified('ada@example.org') })
  const scope = ['--scope', 'user_access account_manage']
  const { token } = await server.command<{ token: string }>('token', 'create', '--user', 'ada@example.org', ...scope)
  const authorization = `PersonalAccessToken ${token}`
  for (const [path, method, body, field] of [
    ['/v1/me/', 'PUT', { password: '', new_password: 'green owls sing late' }, 'password'],
    ['/v1/me/', 'PUT', { password: 'x', email: 'other@example.org' }, 'password'],
    ['/v1/me/tokens/', 'POST', { scope: 'account_manage', password: '' }, 'password'],
  ] as const) {
    const answer = await server.request<{ errors: Record<string, string[]> }>(path, { method, body, authorization })
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.json.errors[field]![0]!, /has no password/)
  }
  const grant = { grant_type: 'password', username: 'ada@example.org', password: '', client_id: 'x', scope: 'read' }
  assert.ok((await server.request('/oauth/token/', { method: 'POST', authorization: null, form: grant })).status >= 400)
})

test('signing in or confirming with a provider still requires the second factor', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServerHere(...file.args, '--sign-up', 'open')
  const claims = verified('ada@example.org')
  const browser = new PageVisitor(server)
  await signIn(browser, provider, { claims })
  const confirm = async () => {
    const fresh = { ...claims, auth_time: Math.floor(Date.now() / 1000) }
    return browser.open(`${back}?${provider.authorize(await press(browser), { claims: fresh })}`)
  }
  // To set up a second factor, an account without a password reauthenticates at the provider.
  await browser.open(appPath)
  assert.match(browser.shown!.path, /^\/confirm\//)
  await confirm()
  const secret = readSecret(browser.shown!.text)
  await browser.submit({ code: codeAt(secret, Date.now()) }, appPath)
  const [recoveryCode, another] = readCodes(browser.shown!.text)
  assert.ok(another)

  const other = new PageVisitor(server)
  const shown = await signIn(other, provider, { claims })
  assert.match(shown.path, /^\/second-factor\//)
  assert.equal(await signedInAs(other), undefined)
  await other.open(shown.path)
  await other.submit({ code: recoveryCode! })
  assert.equal(await signedInAs(other), 'ada@example.org')

  await browser.open('/account/')
  await agePasswords(server)
  assert.match((await browser.open('/account/providers/')).path, /^\/confirm\//)
  assert.match((await confirm()).path, /^\/second-factor\//)
  await browser.submit({ code: another! })
  assert.match(browser.shown!.text, /Linked accounts/)
})
