// Users who sign in with an identity provider on the real server: who gets which account, and who gets none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLyingProvider } from '../identity/lying-provider.ts'
import { clientSecret, writeProviderFile } from '../identity/provider-file.ts'
import {
  audited,
  back,
  countMails,
  email,
  password,
  press,
  signedInAs,
  signIn,
  verified,
} from '../identity/provider-visits.ts'
import { PageVisitor } from '../page-visitor.ts'
import { queryDatabase } from '../query-database.ts'
import { eventually, openServerHere } from '../server-under-test.ts'

test('with open sign-up, a new user of the provider gets an account and keeps it after a change of email address', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServerHere(...file.args, '--sign-up', 'open')
  const browser = new PageVisitor(server)
  const shown = await signIn(browser, provider, {
    claims: { ...verified('ada@example.org'), given_name: 'Ada', family_name: 'Lind' },
  })
  assert.equal(shown.path, '/', shown.text)
  assert.equal(await signedInAs(browser), 'ada@example.org')
  assert.deepEqual(
    (
      await queryDatabase(
        server,
        `select first_name, last_name, is_owner, password_hash from users where email = 'ada@example.org'`,
      )
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
  // A different user of the provider with the earlier email address.
  const other = new PageVisitor(server)
  const refused = await signIn(other, provider, { claims: verified('ada@example.org', 'person-2') })
  assert.equal(refused.status, 403)
  assert.equal(await signedInAs(other), undefined)
})

test('with sign-up by invitation, only invited users get an account, and each invitation works once', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServerHere(...file.args)
  const browser = new PageVisitor(server)
  const refused = await signIn(browser, provider, { claims: verified('guest@example.org') })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /you have not been invited/)
  assert.match(refused.text, /href="\/sign-in\/"/)
  await server.request('/v1/users/invitations/', { method: 'POST', body: { email: 'Guest@example.org' } })
  await eventually(
    'the invitation',
    5000,
    async () => (await queryDatabase(server, 'select * from links')).length === 1,
  )
  // An email address that the provider has not verified does not count as invited.
  for (const email_verified of [false, undefined, 'false', 1]) {
    const shown = await signIn(browser, provider, { claims: { ...verified('guest@example.org'), email_verified } })
    assert.equal(shown.status, 403, String(email_verified))
    assert.match(shown.text, /has not verified/)
  }
  await signIn(browser, provider, { claims: verified('guest@example.org') })
  assert.equal(await signedInAs(browser), 'guest@example.org')
  assert.equal((await queryDatabase(server, 'select * from links')).length, 0)
  const late = await signIn(new PageVisitor(server), provider, { claims: verified('other@example.org', 'person-2') })
  assert.equal(late.status, 403)
  const events = await audited(server)
  assert.ok(events.includes('user.created office provider'), events.join('\n'))
  assert.ok(events.includes('login.failed office provider not_invited'), events.join('\n'))
})

test('with closed sign-up, not even an invited user gets an account', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServerHere(...file.args, '--sign-up', 'closed')
  // An account that was created before sign-up was closed.
  await queryDatabase(
    server,
    `insert into links (hash, kind, email, email_key, inviter_id, created_at_ms, expires_at_ms)
     values ('00', 'invitation', 'guest@example.org', 'guest@example.org', 1, 0, ${Date.now() + 3_600_000})`,
  )
  const refused = await signIn(new PageVisitor(server), provider, { claims: verified('guest@example.org') })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /Ask the owner of the server to create one/)
})

test('an existing account with the email address is linked only after its password was entered, and only once', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider })
  await using server = await openServerHere(...file.args)
  const unverified = await signIn(new PageVisitor(server), provider, { claims: { email, email_verified: false } })
  assert.equal(unverified.status, 403)
  const browser = new PageVisitor(server)
  const shown = await signIn(browser, provider, { claims: verified(email) })
  assert.match(shown.text, /You already have an account/)
  assert.equal(await signedInAs(browser), undefined)
  assert.equal((await queryDatabase(server, 'select * from identities')).length, 0)

  // The link that continues the sign-in shows nothing in another browser, even to the owner.
  const [, next] = /href="(\/account\/providers\/link\/[^"]*)"/.exec(shown.text)!
  const other = new PageVisitor(server)
  await other.signIn(email, password)
  assert.match((await other.open(next!)).text, /has expired/)

  await browser.open(next!)
  assert.match(browser.shown!.path, /^\/sign-in\//)
  assert.equal((await browser.submit({ email, password: 'wrong horse' })).status, 400)
  await browser.submit({ email, password })
  assert.match(browser.shown!.text, /Link your account to The office\?/)
  await browser.submit({}, '/account/providers/link/')
  assert.match(browser.shown!.text, /The account has been linked/)

  const again = new PageVisitor(server)
  await signIn(again, provider, { claims: verified(email) })
  assert.equal(await signedInAs(again), email)
  assert.equal(await eventually('an email', 5000, () => countMails(server, /A sign-in service was linked/)), 1)
  const events = await audited(server)
  assert.ok(events.includes('identity.linked office password'), events.join('\n'))
  // Users with a password must enter it; the provider does not replace it.
  assert.match((await again.open('/account/tokens/')).text, /name="password"/)
})

test('a different user who is signed in is not linked to the identity', async () => {
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
  const shown = await signIn(browser, provider, { claims: verified(email) })
  const [, next] = /href="(\/account\/providers\/link\/[^"]*)"/.exec(shown.text)!
  await browser.open(next!)
  await browser.submit({ email: 'eve@example.org', password: 'evening horses' })
  assert.equal(browser.shown!.status, 403)
  assert.match(browser.shown!.text, /a different account/)
  await browser.open('/account/providers/')
  const posted = await browser.post('/account/providers/link/', {
    form_token: 'x',
    found: new URL(next!, server.url).searchParams.get('found')!,
  })
  assert.equal(posted.status, 403)
  assert.equal((await queryDatabase(server, 'select * from identities')).length, 0)
})

test("the operator's rule links accounts by verified email address, but never a second identity", async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider, more: { link_by_verified_address: true } })
  await using server = await openServerHere(...file.args)
  const unverified = await signIn(new PageVisitor(server), provider, { claims: { email } })
  assert.equal(unverified.status, 403)
  const browser = new PageVisitor(server)
  await signIn(browser, provider, { claims: verified(email.toUpperCase()) })
  assert.equal(await signedInAs(browser), email)
  assert.equal(await eventually('an email', 5000, () => countMails(server, /A sign-in service was linked/)), 1)
  const second = await signIn(new PageVisitor(server), provider, { claims: verified(email, 'person-2') })
  assert.equal(second.status, 403)
  assert.match(second.text, /a different account at The office/)
  const events = await audited(server)
  assert.ok(events.includes('identity.linked office rule'), events.join('\n'))
})

test('what the providers that people have say of an address is understood, and nothing else', async () => {
  await using provider = await openLyingProvider()
  await using trusted = await openLyingProvider()
  await using file = await writeProviderFile(
    { id: 'office', ...provider },
    { id: 'entra', ...trusted, more: { trust_addresses: true, token_endpoint_auth_method: 'client_secret_post' } },
  )
  await using server = await openServerHere(...file.args, '--sign-up', 'open')
  let people = 0
  const come = async (claims: Record<string, unknown>, { userinfo = {}, id = 'office' } = {}) => {
    const [sub, at] = [`person ${++people}`, id === 'office' ? provider : trusted]
    const browser = new PageVisitor(server)
    await browser.open('/sign-in/')
    const saying = { claims: { sub, email: undefined, ...claims } }
    at.saying = { userinfo: { sub, ...userinfo } }
    const answer = at.authorize(await press(browser, id), saying)
    await browser.open(`/sign-in/with/${id}/back/?${answer}`)
    return signedInAs(browser)
  }
  const of = (name: string) => `${name}@example.org`
  // Apple, Amazon Cognito.
  assert.equal(await come({ email: of('apple'), email_verified: 'true' }), of('apple'))
  for (const value of ['false', 1, 'TRUE', 'yes', [true], null])
    assert.equal(await come({ email: of('none'), email_verified: value }), undefined, String(value))
  // Okta, Authelia.
  const thin = { email: of('okta'), email_verified: true, given_name: 'Olga', family_name: 'Kta' }
  assert.equal(await come({ email: of('okta') }, { userinfo: thin }), of('okta'))
  const names = `select first_name, last_name from users where email = '${of('okta')}'`
  assert.deepEqual((await queryDatabase(server, names)).map((row) => Object.values(row as object)), [['Olga', 'Kta']]) // biome-ignore format: one line
  assert.equal(await come({}, { userinfo: { ...thin, email: of('authelia') } }), of('authelia'))
  // What is said elsewhere about another address, or against the token, does not count.
  assert.equal(await come({ email: of('other') }, { userinfo: { ...thin, email: of('else') } }), undefined)
  assert.equal(await come({ email: of('no'), email_verified: false }, { userinfo: { ...thin, email: of('no') } }), undefined) // biome-ignore format: one line
  const unverified = { ...thin, email: of('thin'), email_verified: false }
  assert.equal(await come({ email_verified: true }, { userinfo: unverified }), undefined, 'said of no address')
  // Entra ID says nothing; the operator does.
  assert.equal(await come({ email: of('entra') }), undefined)
  assert.equal(await come({ email: of('entra') }, { id: 'entra' }), of('entra'))
  assert.equal(await come({ email: of('liar'), email_verified: false }, { id: 'entra' }), undefined)
  const [request] = trusted.tokenRequests
  assert.deepEqual([request!.authorization, request!.form.get('client_secret')], [undefined, clientSecret])
})

test('an answer may come as a form from the site of the provider, and twice', async () => {
  await using provider = await openLyingProvider()
  await using file = await writeProviderFile({ id: 'office', ...provider, more: { response_mode: 'form_post' } })
  await using server = await openServerHere(...file.args, '--sign-up', 'open')
  const browser = new PageVisitor(server)
  await browser.open('/sign-in/')
  const location = await press(browser)
  assert.equal(new URL(location).searchParams.get('response_mode'), 'form_post')
  const answer = Object.fromEntries(provider.authorize(location, { claims: verified('ada@example.org') }))
  // The browser sends no cookies with it.
  const sent = await server.request(back, {
    method: 'POST',
    authorization: null,
    form: { ...answer, user: '{"name":{}}' },
    headers: { accept: 'text/html', origin: provider.issuer, 'sec-fetch-site': 'cross-site' },
  })
  assert.equal(sent.status, 303)
  const path = String(sent.headers.location)
  assert.ok(path.startsWith(`${back}?code=`) && !path.includes('user='), path)
  const twice = await Promise.all([browser.open(path), browser.open(path)])
  assert.deepEqual(twice.map(({ path: shown }) => shown), ['/', '/']) // biome-ignore format: one line
  assert.equal(await signedInAs(browser), 'ada@example.org')
  const foreign = await server.request('/sign-in/', {
    method: 'POST',
    authorization: null,
    form: answer,
    headers: { accept: 'text/html', origin: provider.issuer, 'sec-fetch-site': 'cross-site' },
  })
  assert.equal(foreign.status, 403)
})
