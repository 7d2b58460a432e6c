// Links between accounts and identity providers on the real server, created and removed in the settings, by programs
// and by commands.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLyingProvider } from '../identity/lying-provider.ts'
import { clientSecret, writeProviderFile } from '../identity/provider-file.ts'
import {
  agePasswords,
  back,
  countMails,
  email,
  password,
  press,
  signedInAs,
  signIn,
  verified,
} from '../identity/provider-visits.ts'
import { openRealProvider } from '../identity/real-provider.ts'
import { PageVisitor } from '../page-visitor.ts'
import { queryDatabase } from '../query-database.ts'
import { eventually, openServerHere } from '../server-under-test.ts'

test('linking and unlinking in the settings require a recent password, and a disabled account cannot sign in', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServerHere(...file.args)
  await server.command(
    'user',
    'add',
    '--email',
    'eve@example.org',
    '--first-name',
    'Eve',
    '--password',
    'evening horses',
  )
  const browser = new PageVisitor(server)
  await browser.signIn('eve@example.org', 'evening horses')
  await browser.open('/account/providers/')
  const [, start] = /href="(\/sign-in\/with\/office\/[^"]*)"/.exec((await browser.open('/account/providers/')).text)!
  await agePasswords(server)
  assert.match((await browser.open('/account/providers/')).path, /^\/confirm\//)
  assert.match((await browser.open(start!)).path, /^\/confirm\//)

  await browser.open('/account/providers/')
  await browser.submit({ password: 'evening horses' })
  // The password has proved whose account it is, so the address counts for nothing (Entra ID does not verify any).
  const claims = { sub: 'person-1', email: 'eve@work.example' }
  const linked = await browser.open(`${back}?${provider.authorize(await press(browser), { claims })}`)
  assert.match(linked.text, /The account has been linked/)
  assert.match(linked.text, /eve@work\.example/)

  // The same identity cannot create a second account.
  const owner = new PageVisitor(server)
  await owner.signIn(email, password)
  await owner.open('/account/providers/')
  const taken = await owner.open(
    `${back}?${provider.authorize(await press(owner), { claims: verified('eve@work.example') })}`,
  )
  assert.equal(taken.status, 409)
  assert.match(taken.text, /is already linked to another account on this server/)

  const second = new PageVisitor(server)
  await signIn(second, provider, { claims: verified('eve@work.example') })
  assert.equal(await signedInAs(second), 'eve@example.org')
  const eve = (await server.request<{ results: { id: number; email: string }[] }>('/v1/users/')).json.results.at(-1)!
  await server.request(`/v1/users/${eve.id}/`, { method: 'PUT', body: { disabled: true } })
  assert.equal(await signedInAs(second), undefined)
  const shut = await signIn(second, provider, { claims: verified('eve@work.example') })
  assert.equal(shut.status, 403)
  assert.match(shut.text, /is disabled/)
  await server.request(`/v1/users/${eve.id}/`, { method: 'PUT', body: { disabled: false } })
  await signIn(second, provider, { claims: verified('eve@work.example') })
  assert.equal(await signedInAs(second), 'eve@example.org')

  await browser.signIn('eve@example.org', 'evening horses')
  await browser.open('/account/providers/')
  await browser.submit({}, '/account/providers/')
  assert.match(browser.shown!.text, /The link has been removed/)
  assert.equal(await signedInAs(browser), 'eve@example.org')
  assert.equal(await signedInAs(second), undefined)
  assert.equal(await eventually('an email', 5000, () => countMails(server, /A sign-in service was removed/)), 1)
  assert.equal((await signIn(second, provider, { claims: verified('eve@work.example') })).status, 403)

  // Deleting an account deletes its links.
  const proof = { own_password: 'correct horse' }
  assert.equal((await server.request(`/v1/users/${eve.id}/`, { method: 'DELETE', body: proof })).status, 204)
  assert.equal((await queryDatabase(server, 'select * from identities')).length, 0)
})

test('programs can list the linked identities of an account and remove all but the last sign-in method', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider, more: { link_by_verified_address: true } })
  await using server = await openServerHere(...file.args, '--sign-up', 'open')
  type Page<T> = { count: number; results: T[] }
  type Linked = {
    id: number
    email: string
    provider: { id: string; name: string } | null
    last_used_at: string | null
  }
  const offered = await server.request<Page<unknown>>('/v1/me/identity-providers/')
  const link_url = `${server.url}/account/providers/`
  assert.deepEqual(offered.json.results, [{ id: 'office', name: 'The office', is_linked: false, link_url }])
  await signIn(new PageVisitor(server), provider, { claims: verified(email) })
  const again = new PageVisitor(server)
  await signIn(again, provider, { claims: verified('olive@new.example') })
  const { count, results } = (await server.request<Page<Linked>>('/v1/me/identities/')).json
  assert.equal(count, 1)
  const [linked] = results
  assert.deepEqual([linked!.email, linked!.provider], ['olive@new.example', { id: 'office', name: 'The office' }])
  assert.ok(linked!.last_used_at)
  assert.doesNotMatch(JSON.stringify(results), /person-1/)

  // Links of other users, or without the scope, cannot be removed.
  const visitor = new PageVisitor(server)
  await signIn(visitor, provider, { claims: verified('ada@example.org', 'person-2') })
  const tokenOf = async (user: string, ...scope: string[]) => {
    const made = await server.command<{ token: string }>('token', 'create', '--user', user, ...scope)
    return `PersonalAccessToken ${made.token}`
  }
  const adas = await tokenOf('ada@example.org', '--scope', 'user_access account_manage')
  const path = `/v1/me/identities/${linked!.id}/`
  assert.equal((await server.request(path, { method: 'DELETE', authorization: adas })).status, 404)
  const plain = await tokenOf(email)
  assert.equal((await server.request(path, { method: 'DELETE', authorization: plain })).status, 403)
  assert.equal((await server.request('/v1/me/identities/', { authorization: plain })).status, 403)
  assert.equal((await server.request('/v1/me/identities/', { authorization: null })).status, 401)

  assert.equal((await server.request(path, { method: 'DELETE' })).status, 204)
  assert.equal((await server.request(path, { method: 'DELETE' })).status, 404)
  assert.equal(await signedInAs(again), undefined)
  // Ada has no other sign-in method.
  const own = (await server.request<Page<Linked>>('/v1/me/identities/', { authorization: adas })).json.results[0]!
  const last = await server.request<{ title: string; detail: string }>(`/v1/me/identities/${own.id}/`, {
    method: 'DELETE',
    authorization: adas,
  })
  assert.deepEqual([last.status, last.json.title], [409, 'conflict'])
  assert.equal(await signedInAs(visitor), 'ada@example.org')
})

test('the command line tests providers, and lists and removes links with a notice by email', async () => {
  await using provider = await openLyingProvider()
  await using gone = await openLyingProvider()
  await using file = await writeProviderFile(
    { id: 'office', ...provider, more: { link_by_verified_address: true } },
    { id: 'school', ...gone },
  )
  await using server = await openServerHere(...file.args)
  gone.describe = (response) => void response.writeHead(500).end()
  // Commands read their settings from the file.
  await writeFile(join(server.dataDir, 'nightjar.json'), JSON.stringify({ 'identity-providers': file.args[1] }))
  type State = { id: string; is_usable: boolean; failure: string | null }
  const { providers } = await server.command<{ providers: State[] }>('identity', 'providers')
  assert.deepEqual(
    providers.map(({ id, is_usable }) => [id, is_usable]),
    [
      ['office', true],
      ['school', false],
    ],
  )
  assert.match(providers[1]!.failure!, /status/)
  const browser = new PageVisitor(server)
  await signIn(browser, provider, { claims: verified(email) })
  type Linked = { id: number; issuer: string; subject: string }
  const { identities } = await server.command<{ identities: Linked[] }>('identity', 'list', email)
  assert.deepEqual(
    identities.map(({ issuer, subject }) => [issuer, subject]),
    [[provider.issuer, 'person-1']],
  )
  await assert.rejects(server.command('identity', 'remove', email, 'x'))
  await server.command('identity', 'remove', email, String(identities[0]!.id))
  assert.equal(await signedInAs(browser), undefined)
  assert.equal(await eventually('an email', 5000, () => countMails(server, /A sign-in service was removed/)), 1)
  assert.deepEqual((await server.command<{ identities: Linked[] }>('identity', 'list', email)).identities, [])
})

test('the command line says that a provider does not accept the client, and what to check', async () => {
  for (const [secret, expected] of [
    ['another secret', /answers invalid_client: check client_id, its secret, and token_endpoint_auth_method/],
    [clientSecret, undefined],
  ] as const) {
    await using provider = await openRealProvider({ secret })
    await using file = await writeProviderFile({ id: 'office', ...provider })
    await using server = await openServerHere(...file.args)
    provider.register(`${server.url}${back}`)
    const settings = { 'identity-providers': file.args[1], 'public-url': server.url }
    await writeFile(join(server.dataDir, 'nightjar.json'), JSON.stringify(settings))
    type State = { failure: string | null }
    const { providers } = await server.command<{ providers: State[] }>('identity', 'providers')
    if (expected) assert.match(providers[0]!.failure!, expected)
    else assert.equal(providers[0]!.failure, null)
  }
})
