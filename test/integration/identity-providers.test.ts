// People who sign in with an identity provider, against the real server: who gets which account, and who none.

import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { readMailedLink } from '../e2e/outbox.ts'
import { type LyingProvider, openLyingProvider, type Saying } from '../identity/lying-provider.ts'
import { clientSecret, writeProviderFile } from '../identity/provider-file.ts'
import { appPath, codeAt, readCodes, readSecret } from '../page-second-factors.ts'
import { PageVisitor, type VisitedPage } from '../page-visitor.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'

const email = 'owner@example.com'
const password = 'correct horse'
const back = '/sign-in/with/office/back/'
const verified = (address: string, sub = 'person-1') => ({ sub, email: address, email_verified: true })

/** Presses the button of the page that is shown; the address of the provider that the browser is sent to. */
async function press(browser: PageVisitor, id = 'office'): Promise<string> {
  const [, path] = new RegExp(`href="(/sign-in/with/${id}/[^"]*)"`).exec(browser.shown!.text) ?? []
  assert.ok(path, `no button of ${id} in:\n${browser.shown!.text}`)
  const sent = await browser.open(path)
  assert.ok(sent.location, sent.text)
  return sent.location
}

async function signIn(browser: PageVisitor, provider: LyingProvider, saying: Saying): Promise<VisitedPage> {
  await browser.open('/sign-in/')
  const answer = provider.authorize(await press(browser), saying)
  return browser.open(`${back}?${answer}`)
}

async function signedInAs(browser: PageVisitor): Promise<string | undefined> {
  const { text } = await browser.open('/account/')
  return /<p class="who">.*?<br>([^<]*)</s.exec(text)?.[1]
}

/** What was noted for the owner of the server, newest first. */
async function audited(server: ServerUnderTest): Promise<string[]> {
  const { events } = await server.command<{ events: { event: string; detail: Record<string, unknown> }[] }>(
    'audit',
    'list',
  )
  return events.map(({ event, detail }) =>
    `${event} ${detail.provider ?? ''} ${detail.via ?? ''} ${detail.reason ?? ''}`.trim(),
  )
}

/** As if the password had been given eleven minutes before it was. */
function agePasswords({ dataDir }: ServerUnderTest): void {
  using database = new DatabaseSync(join(dataDir, 'nightjar.db'), { timeout: 10_000 })
  database.exec('update sessions set password_at_ms = password_at_ms - 660000')
}

const countMails = async ({ dataDir }: ServerUnderTest, subject: RegExp): Promise<number> => {
  const dir = join(dataDir, 'outbox')
  const files = (await readdir(dir).catch(() => [])).filter((name) => name.endsWith('.eml') && !name.startsWith('.'))
  const mails = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')))
  return mails.filter((mail) => subject.test(mail)).length
}

function readRows<T>({ dataDir }: ServerUnderTest, query: string): T[] {
  using database = new DatabaseSync(join(dataDir, 'nightjar.db'), { timeout: 10_000 })
  return database.prepare(query).all() as T[]
}

test('sign-up open: a stranger of the provider gets an account, comes back to it, and keeps it under another address', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServer(...file.args, '--sign-up', 'open')
  const browser = new PageVisitor(server)
  const shown = await signIn(browser, provider, {
    claims: { ...verified('ada@example.org'), given_name: 'Ada', family_name: 'Lind' },
  })
  assert.equal(shown.path, '/', shown.text)
  assert.equal(await signedInAs(browser), 'ada@example.org')
  assert.deepEqual(
    readRows(
      server,
      `select first_name, last_name, is_owner, password_hash from users where email = 'ada@example.org'`,
    ).map((row) => ({ ...(row as object) })),
    [{ first_name: 'Ada', last_name: 'Lind', is_owner: 0, password_hash: '' }],
  )
  const [request] = provider.tokenRequests
  assert.match(request!.form.get('code_verifier')!, /^[\w-]{43}$/)
  assert.equal(request!.form.get('redirect_uri'), `${server.url}${back}`)
  const [id, secret] = Buffer.from(request!.authorization!.slice(6), 'base64').toString().split(':')
  assert.deepEqual([id, decodeURIComponent(secret!.replaceAll('+', ' '))], ['nightjar', clientSecret])

  const again = new PageVisitor(server)
  await signIn(again, provider, { claims: verified('lind@elsewhere.example') })
  assert.equal(await signedInAs(again), 'ada@example.org')
  const unverified = new PageVisitor(server)
  await signIn(unverified, provider, { claims: { email: undefined } })
  assert.equal(await signedInAs(unverified), 'ada@example.org')
  // Another person there, though with the address of before.
  const other = new PageVisitor(server)
  const refused = await signIn(other, provider, { claims: verified('ada@example.org', 'person-2') })
  assert.equal(refused.status, 403)
  assert.equal(await signedInAs(other), undefined)
})

test('sign-up by invitation: nobody gets an account who was not invited, and an invitation is used up', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServer(...file.args)
  const browser = new PageVisitor(server)
  const refused = await signIn(browser, provider, { claims: verified('guest@example.org') })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /nobody has invited you/)
  assert.match(refused.text, /href="\/sign-in\/"/)
  await server.request('/v1/users/invitations/', { method: 'POST', body: { email: 'Guest@example.org' } })
  await eventually('the invitation', 5000, async () => readRows(server, 'select * from links').length === 1)
  // An address that the provider does not vouch for is no invited one.
  for (const email_verified of [false, undefined, 'true', 1]) {
    const shown = await signIn(browser, provider, { claims: { ...verified('guest@example.org'), email_verified } })
    assert.equal(shown.status, 403, String(email_verified))
    assert.match(shown.text, /does not vouch/)
  }
  await signIn(browser, provider, { claims: verified('guest@example.org') })
  assert.equal(await signedInAs(browser), 'guest@example.org')
  assert.equal(readRows(server, 'select * from links').length, 0)
  const late = await signIn(new PageVisitor(server), provider, { claims: verified('other@example.org', 'person-2') })
  assert.equal(late.status, 403)
  const events = await audited(server)
  assert.ok(events.includes('user.created office provider'), events.join('\n'))
  assert.ok(events.includes('login.failed office provider not_invited'), events.join('\n'))
})

test('sign-up closed: not even an invited address gets an account', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServer(...file.args, '--sign-up', 'closed')
  // One of before it was closed.
  using database = new DatabaseSync(join(server.dataDir, 'nightjar.db'), { timeout: 10_000 })
  const insert = database.prepare(
    `insert into links (hash, kind, email, email_key, inviter_id, created_at_ms, expires_at_ms) values (x'00', 'invitation', ?, ?, 1, 0, ?)`,
  )
  insert.run('guest@example.org', 'guest@example.org', Date.now() + 3_600_000)
  const refused = await signIn(new PageVisitor(server), provider, { claims: verified('guest@example.org') })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /only its owner makes new ones/)
})

test('an account with the address is linked after its password, once, and never without', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServer(...file.args)
  const unverified = await signIn(new PageVisitor(server), provider, { claims: { email, email_verified: false } })
  assert.equal(unverified.status, 403)
  const browser = new PageVisitor(server)
  const shown = await signIn(browser, provider, { claims: verified(email) })
  assert.match(shown.text, /You have an account already/)
  assert.equal(await signedInAs(browser), undefined)
  assert.equal(readRows(server, 'select * from identities').length, 0)

  // The link to go on with is another browser's: nothing of it is there, even for the owner.
  const [, next] = /href="(\/account\/providers\/link\/[^"]*)"/.exec(shown.text)!
  const other = new PageVisitor(server)
  await other.signIn(email, password)
  assert.match((await other.open(next!)).text, /cannot be finished/)

  await browser.open(next!)
  assert.match(browser.shown!.path, /^\/sign-in\//)
  assert.equal((await browser.submit({ email, password: 'wrong horse' })).status, 400)
  await browser.submit({ email, password })
  assert.match(browser.shown!.text, /Link your account with The office\?/)
  await browser.submit({}, '/account/providers/link/')
  assert.match(browser.shown!.text, /The account is linked/)

  const again = new PageVisitor(server)
  await signIn(again, provider, { claims: verified(email) })
  assert.equal(await signedInAs(again), email)
  assert.equal(await eventually('a mail', 5000, () => countMails(server, /Another way to sign in/)), 1)
  const events = await audited(server)
  assert.ok(events.includes('identity.linked office password'), events.join('\n'))
  // Who has a password gives it: the provider does not stand in for it.
  assert.match((await again.open('/account/tokens/')).text, /name="password"/)
})

test('somebody else who is signed in is not linked with what was found', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServer(...file.args)
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
  const shown = await signIn(browser, provider, { claims: verified(email) })
  const [, next] = /href="(\/account\/providers\/link\/[^"]*)"/.exec(shown.text)!
  await browser.open(next!)
  await browser.submit({ email: 'eve@example.org', password: 'evening horses' })
  assert.equal(browser.shown!.status, 403)
  assert.match(browser.shown!.text, /another account/)
  await browser.open('/account/providers/')
  const posted = await browser.post('/account/providers/link/', {
    form_token: 'x',
    found: new URL(next!, server.url).searchParams.get('found')!,
  })
  assert.equal(posted.status, 403)
  assert.equal(readRows(server, 'select * from identities').length, 0)
})

test('the rule of the operator links by a verified address, but never a second person', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider, more: { link_by_verified_address: true } })
  await using server = await openServer(...file.args)
  const unverified = await signIn(new PageVisitor(server), provider, { claims: { email } })
  assert.equal(unverified.status, 403)
  const browser = new PageVisitor(server)
  await signIn(browser, provider, { claims: verified(email.toUpperCase()) })
  assert.equal(await signedInAs(browser), email)
  assert.equal(await eventually('a mail', 5000, () => countMails(server, /Another way to sign in/)), 1)
  const second = await signIn(new PageVisitor(server), provider, { claims: verified(email, 'person-2') })
  assert.equal(second.status, 403)
  assert.match(second.text, /another account at The office/)
  const events = await audited(server)
  assert.ok(events.includes('identity.linked office rule'), events.join('\n'))
})

test('linked and unlinked in the settings, never without the recent password, and a disabled account stays shut', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServer(...file.args)
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
  const location = await press(browser)
  const [, start] = /href="(\/sign-in\/with\/office\/[^"]*)"/.exec((await browser.open('/account/providers/')).text)!
  agePasswords(server)
  assert.match((await browser.open('/account/providers/')).path, /^\/confirm\//)
  assert.match((await browser.open(start!)).path, /^\/confirm\//)

  // Not without a verified address; another address than that of the account is good.
  const unverified = await browser.open(
    `${back}?${provider.authorize(location, { claims: { email: 'eve@example.org' } })}`,
  )
  assert.equal(unverified.status, 403)
  await browser.open('/account/providers/')
  await browser.submit({ password: 'evening horses' })
  const linked = await browser.open(
    `${back}?${provider.authorize(await press(browser), { claims: verified('eve@work.example') })}`,
  )
  assert.match(linked.text, /The account is linked/)
  assert.match(linked.text, /eve@work\.example/)

  // The same person opens no second account.
  const owner = new PageVisitor(server)
  await owner.signIn(email, password)
  await owner.open('/account/providers/')
  const taken = await owner.open(
    `${back}?${provider.authorize(await press(owner), { claims: verified('eve@work.example') })}`,
  )
  assert.equal(taken.status, 409)
  assert.match(taken.text, /signs in to another account here/)

  const second = new PageVisitor(server)
  await signIn(second, provider, { claims: verified('eve@work.example') })
  assert.equal(await signedInAs(second), 'eve@example.org')
  const eve = (await server.request<{ results: { id: number; email: string }[] }>('/v1/users/')).json.results.at(-1)!
  await server.request(`/v1/users/${eve.id}/`, { method: 'PUT', body: { disabled: true } })
  assert.equal(await signedInAs(second), undefined)
  const shut = await signIn(second, provider, { claims: verified('eve@work.example') })
  assert.equal(shut.status, 403)
  assert.match(shut.text, /is shut/)
  await server.request(`/v1/users/${eve.id}/`, { method: 'PUT', body: { disabled: false } })
  await signIn(second, provider, { claims: verified('eve@work.example') })
  assert.equal(await signedInAs(second), 'eve@example.org')

  await browser.signIn('eve@example.org', 'evening horses')
  await browser.open('/account/providers/')
  await browser.submit({}, '/account/providers/')
  assert.match(browser.shown!.text, /The link is removed/)
  assert.equal(await signedInAs(browser), 'eve@example.org')
  assert.equal(await signedInAs(second), undefined)
  assert.equal(await eventually('a mail', 5000, () => countMails(server, /A way to sign in .* was removed/)), 1)
  assert.equal((await signIn(second, provider, { claims: verified('eve@work.example') })).status, 403)

  // A removed account takes its links along.
  await server.request(`/v1/users/${eve.id}/`, { method: 'DELETE' })
  assert.equal(readRows(server, 'select * from identities').length, 0)
})

test('an account without a password: the last way in stays, and a fresh sign-in stands in for the password', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServer(...file.args, '--sign-up', 'open')
  const claims = verified('ada@example.org')
  const browser = new PageVisitor(server)
  await signIn(browser, provider, { claims })
  // What asks for the password sends to the provider, and takes nothing old.
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
  // Nor somebody else who is fresh.
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

  // The only way in is not taken away.
  await browser.submit({}, '/account/providers/')
  assert.equal(browser.shown!.status, 409)
  assert.match(browser.shown!.text, /choose a password first/)
  assert.equal(readRows(server, 'select * from identities').length, 1)

  // A password by mail; then it can go.
  await browser.open('/account/password/')
  await browser.submit({})
  const link = new URL(await readMailedLink(server, 'ada@example.org'))
  await browser.open(link.pathname + link.search)
  await browser.submit({ password: 'green owls sing late' })
  await browser.signIn('ada@example.org', 'green owls sing late')
  await browser.open('/account/providers/')
  await browser.submit({}, '/account/providers/')
  assert.match(browser.shown!.text, /The link is removed/)
})

test('a program of an account without a password is told to choose one', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServer(...file.args, '--sign-up', 'open')
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

test('programs see what signs in to the account, and remove it but for the last', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider, more: { link_by_verified_address: true } })
  await using server = await openServer(...file.args, '--sign-up', 'open')
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

  // Not another's, not without the scope.
  const newcomer = new PageVisitor(server)
  await signIn(newcomer, provider, { claims: verified('ada@example.org', 'person-2') })
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
  // Ada has nothing else.
  const own = (await server.request<Page<Linked>>('/v1/me/identities/', { authorization: adas })).json.results[0]!
  const last = await server.request<{ title: string; detail: string }>(`/v1/me/identities/${own.id}/`, {
    method: 'DELETE',
    authorization: adas,
  })
  assert.deepEqual([last.status, last.json.title], [409, 'conflict'])
  assert.equal(await signedInAs(newcomer), 'ada@example.org')
})

test('the command line asks providers, shows links and removes them, with a mail', async () => {
  await using provider = await openLyingProvider()
  await using gone = await openLyingProvider()
  await using file = await writeProviderFile(
    { id: 'office', ...provider, more: { link_by_verified_address: true } },
    { id: 'school', ...gone },
  )
  await using server = await openServer(...file.args)
  gone.describe = (response) => void response.writeHead(500).end()
  // Commands have their settings from the file.
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
  assert.equal(await eventually('a mail', 5000, () => countMails(server, /A way to sign in .* was removed/)), 1)
  assert.deepEqual((await server.command<{ identities: Linked[] }>('identity', 'list', email)).identities, [])
})

test('a provider is a first step: a second factor is asked for all the same, also to confirm', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServer(...file.args, '--sign-up', 'open')
  const claims = verified('ada@example.org')
  const browser = new PageVisitor(server)
  await signIn(browser, provider, { claims })
  const confirm = async () => {
    const fresh = { ...claims, auth_time: Math.floor(Date.now() / 1000) }
    return browser.open(`${back}?${provider.authorize(await press(browser), { claims: fresh })}`)
  }
  // To set one up, an account without a password proves itself at the provider.
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
  agePasswords(server)
  assert.match((await browser.open('/account/providers/')).path, /^\/confirm\//)
  assert.match((await confirm()).path, /^\/second-factor\//)
  await browser.submit({ code: another! })
  assert.match(browser.shown!.text, /Linked accounts/)
})
