// A person at an unlocked browser may not be its user: granting an application access to the account requires the
// password.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PageVisitor } from '../page-visitor.ts'
import { queryDatabase } from '../query-database.ts'
import { ownerEmail as email, openServerHere, type ServerUnderTest } from '../server-under-test.ts'

const password = 'correct horse'
const redirectUri = 'https://app.example/cb'

type App = { client_id: string; client_secret: string }

test('A35: consent that includes account_manage is shown and accepted only soon after the password was entered', async () => {
  await using server = await openServerHere()
  const app = await server.command<App>(
    ...['app', 'add', '--user', email, '--name', 'Twin', '--redirect-uris', redirectUri],
    ...['--scope', 'user_access account_manage'],
  )
  const ask = (scope: string) =>
    `/oauth/authorize/?${new URLSearchParams({ response_type: 'code', client_id: app.client_id, redirect_uri: redirectUri, scope, state: 's' })}`
  const browser = new PageVisitor(server)
  await browser.signIn(email, password)

  // Soon after sign-in the consent page is shown; an answer long afterwards is not accepted.
  await browser.open(ask('account_manage'))
  assert.match(browser.shown!.text, /Twin/)
  await agePasswords(server)
  const late = await browser.submit({ answer: 'allow' }, '/oauth/')
  assert.equal(readCode(late.location), null, 'a consent was posted without the password')
  assert.match(late.path, /^\/confirm\//)

  for (const scope of ['account_manage', 'user_access account_manage', 'account_manage read', 'read account_manage']) {
    const shown = await browser.open(ask(scope))
    assert.match(shown.path, /^\/confirm\//, `the consent of "${scope}" was shown without the password`)
  }
  assert.equal((await browser.submit({ password: 'wrong horse' })).status, 400)
  assert.match(browser.shown!.text, /password/i)

  // Scopes that do not affect the account need no password, and neither does denying.
  await browser.open(ask('user_access'))
  assert.match(String((await browser.submit({ answer: 'allow' }, '/oauth/')).location), /code=/)

  // After the password the consent page is shown, and one answer results in one code.
  await browser.open(ask('read account_manage'))
  await browser.submit({ password })
  assert.match(browser.shown!.path, /^\/oauth\/authorize\//)
  const allowed = await browser.submit({ answer: 'allow' }, '/oauth/')
  const code = readCode(allowed.location)
  assert.ok(code, String(allowed.location))
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...credentials(app) }
  const pair = await server.request<{ scope: string }>('/oauth/token/', { method: 'POST', authorization: null, form })
  assert.deepEqual([pair.status, pair.json.scope], [200, 'read account_manage'])
})

test('A35: a user can deny access to an application long after entering the password', async () => {
  await using server = await openServerHere()
  const app = await server.command<App>(
    ...['app', 'add', '--user', email, '--name', 'Twin', '--redirect-uris', redirectUri],
    ...['--scope', 'account_manage'],
  )
  const browser = new PageVisitor(server)
  await browser.signIn(email, password)
  const query = { response_type: 'code', client_id: app.client_id, redirect_uri: redirectUri, scope: 'account_manage' }
  await browser.open(`/oauth/authorize/?${new URLSearchParams(query)}`)
  await agePasswords(server)
  const denied = await browser.submit({ answer: 'deny' }, '/oauth/')
  assert.match(String(denied.location), /error=access_denied/)
})

const credentials = ({ client_id, client_secret }: App) => ({ client_id, client_secret })

const readCode = (location: string | undefined) =>
  location === undefined || location.startsWith('/') ? null : new URL(location).searchParams.get('code')

/** Moves every sign-in eleven minutes into the past. */
async function agePasswords(server: ServerUnderTest): Promise<void> {
  await queryDatabase(server, 'update sessions set password_at_ms = password_at_ms - 660000')
}
