// Users who sign in through a third-party identity provider, with JavaScript disabled on our pages.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { buildDashboard } from '../../scripts/build-web.ts'
import { writeProviderFile } from '../identity/provider-file.ts'
import {
  openRealProvider,
  type PersonThere,
  type RealProvider,
  type RealProviderOptions,
} from '../identity/real-provider.ts'
import { ownerEmail as email, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { launchChromium } from './browser.ts'
import { checkAccessible, shoot } from './dashboard-scene.ts'
import { readMailedLink } from './outbox.ts'

const password = 'correct horse'

type Scene = AsyncDisposable & { readonly provider: RealProvider; readonly server: ServerUnderTest }

type SceneOptions = RealProviderOptions & {
  readonly args?: readonly string[]
  readonly more?: Record<string, unknown>
}

async function openScene({ args = [], more, ...options }: SceneOptions = {}): Promise<Scene> {
  await using held = new AsyncDisposableStack()
  const provider = held.use(await openRealProvider(options))
  const { issuer, ca } = provider
  const file = held.use(await writeProviderFile({ id: 'office', issuer, ca, ...(more && { more }) }))
  const server = held.use(await openServerHere(...file.args, ...args))
  provider.register(`${server.url}/sign-in/with/office/back/`)
  const resources = held.move()
  return { provider, server, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

async function openBrowser(t: TestContext): Promise<Browser> {
  const browser = await launchChromium()
  t.after(() => browser.close())
  return browser
}

type Visitor = { readonly page: Page; readonly complaints: readonly string[] }

/** A separate browser. */
async function visit(browser: Browser): Promise<Visitor> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB' })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text())
  })
  return { page, complaints }
}

const main = async (page: Page): Promise<string> => String(await page.textContent('main'))

/** At the provider: its sign-in and consent pages. */
async function proveThere(page: Page, name: string): Promise<void> {
  await page.fill('input[name=login]', name)
  await page.fill('input[name=password]', 'any')
  await page.click('button[type=submit]')
  await page.waitForLoadState()
}

async function agreeThere(page: Page): Promise<void> {
  await page.click('button[type=submit]')
  await page.waitForLoadState()
}

async function signInThere(page: Page, { url }: ServerUnderTest, name: string): Promise<void> {
  await page.goto(`${url}/sign-in/`)
  await page.click('text=Sign in with The office')
  await proveThere(page, name)
  await agreeThere(page)
}

async function signedInAs(page: Page, { url }: ServerUnderTest): Promise<string> {
  await page.goto(`${url}/account/`)
  return new URL(page.url()).pathname === '/account/' ? String(await page.textContent('.who')) : 'nobody'
}

test('with the policy "invited", an invited person gets an account through the provider and returns to the requested page', async (t) => {
  await using scene = await openScene({ userinfoOnly: true })
  const { provider, server } = scene
  provider.people.set('gus', {
    email: 'guest@example.com',
    email_verified: true,
    given_name: 'Gus',
    family_name: 'Gast',
  })
  const { page, complaints } = await visit(await openBrowser(t))
  await signInThere(page, server, 'gus')
  assert.match(await main(page), /you have not been invited/)
  await checkAccessible(page)
  await page.click('main a.button')
  assert.equal(new URL(page.url()).pathname, '/sign-in/')
  await checkAccessible(page)
  await shoot(page, 'sign-in-with-provider')

  await server.request('/v1/users/invitations/', { method: 'POST', body: { email: 'guest@example.com' } })
  await readMailedLink(server, 'guest@example.com')
  // The provider has a session by now and asks nothing.
  await page.goto(`${server.url}/account/email/`)
  await page.click('text=Sign in with The office')
  await page.waitForURL(`${server.url}/account/email/`)
  assert.match(await signedInAs(page, server), /Gus Gast\s*guest@example\.com/)
  // The dashboard opens with a grant of its own.
  await page.goto(server.url)
  await page.waitForSelector('text=Cameras')
  assert.deepEqual(complaints, [])
})

test('an existing account is linked after its password, but not if the email address is unverified', async (t) => {
  await using scene = await openScene()
  const { provider, server } = scene
  provider.people.set('olive', { email, email_verified: false })
  const browser = await openBrowser(t)
  const { page, complaints } = await visit(browser)
  await signInThere(page, server, 'olive')
  assert.match(await main(page), /has not verified your email address/)
  provider.people.set('olive', { email, email_verified: true })
  await page.goto(`${server.url}/sign-in/`)
  await page.click('text=Sign in with The office')
  assert.match(await main(page), /An account for owner@example\.com already exists/)
  assert.equal(await signedInAs(await page.context().newPage(), server), 'nobody')
  await page.click('main a.button')
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
  assert.match(await main(page), /Link your account to The office\?/)
  await checkAccessible(page)
  await page.click('main button')
  assert.match(await main(page), /The account has been linked/)

  const other = await visit(browser)
  await signInThere(other.page, server, 'olive')
  assert.match(await signedInAs(other.page, server), /owner@example\.com/)
  // Unlinking here signs out there.
  await page.goto(`${server.url}/account/providers/`)
  await checkAccessible(page)
  await shoot(page, 'linked-accounts')
  await page.click('main li button')
  assert.match(await main(page), /The link has been removed/)
  assert.equal(await signedInAs(other.page, server), 'nobody')
  // Linked again from the settings in one step.
  await page.click('text=Link The office')
  await page.waitForURL(/providers/)
  assert.match(await main(page), /The account has been linked/)
  assert.deepEqual([...complaints, ...other.complaints], [])
})

test("an operator's rule links accounts immediately and notifies the user", async (t) => {
  await using scene = await openScene({ more: { link_by_verified_address: true } })
  const { provider, server } = scene
  provider.people.set('olive', { email: 'Owner@Example.com', email_verified: true })
  const { page } = await visit(await openBrowser(t))
  await signInThere(page, server, 'olive')
  assert.match(await signedInAs(page, server), /owner@example\.com/)
})

/** As docs/operating/identity-providers.md says: what each sends, and what it needs here. */
const sold: readonly (readonly [name: string, PersonThere, SceneOptions, isIn?: false])[] = [
  ['Authelia', { email_verified: true }, { userinfoOnly: true }],
  ['Authentik', { email_verified: false }, { authMethod: 'client_secret_post' }, false],
  [
    'Authentik with a mapping',
    { email_verified: true },
    { authMethod: 'client_secret_post', more: { token_endpoint_auth_method: 'client_secret_post' } },
  ],
  ['Amazon Cognito', { email_verified: 'true', given_name: 'Olga' }, {}],
  [
    'Apple',
    { email_verified: 'true' },
    {
      ...{ authMethod: 'client_secret_post', host: '127.0.0.1' },
      more: { response_mode: 'form_post', token_endpoint_auth_method: 'client_secret_post' },
    },
  ],
  ['Entra ID', { given_name: 'Olga' }, {}, false],
  ['Entra ID, with addresses of the administrators', { given_name: 'Olga' }, { more: { trust_addresses: true } }],
  ['Google', { email_verified: true, given_name: 'Olga', family_name: 'Berg' }, {}],
  ['Okta', { email_verified: true, given_name: 'Olga', family_name: 'Berg' }, { userinfoOnly: true }],
  ['Pocket ID', { email_verified: false }, { more: { trust_addresses: true } }, false],
]

test('a new person gets an account through each provider that the guide describes, or is refused', async (t) => {
  const browser = await openBrowser(t)
  for (const [name, person, options, isIn = true] of sold) {
    await using scene = await openScene({ ...options, args: ['--sign-up', 'open'] })
    const { provider, server } = scene
    provider.people.set('olga', { email: 'olga@example.org', ...person })
    const { page, complaints } = await visit(browser)
    await signInThere(page, server, 'olga')
    await page.waitForURL(`${server.url}/**`)
    if (!isIn) assert.match(await main(page), /has not verified/, name)
    assert.match(await signedInAs(page, server), isIn ? /olga@example\.org/ : /nobody/, name)
    assert.deepEqual(complaints, [], name)
    await page.context().close()
  }
})

test('an answer that comes as a form from another site signs in', async (t) => {
  const more = { link_by_verified_address: true, response_mode: 'form_post' }
  await using scene = await openScene({ more, host: '127.0.0.1' })
  const { provider, server } = scene
  provider.people.set('olive', { email, email_verified: true })
  const { page, complaints } = await visit(await openBrowser(t))
  const posted: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().startsWith(server.url)) posted.push(request.url())
  })
  await signInThere(page, server, 'olive')
  await page.waitForURL(`${server.url}/**`)
  assert.equal(posted.length, 1)
  assert.match(await signedInAs(page, server), /owner@example\.com/)
  assert.deepEqual(complaints, [])
})

test('an account without a password reauthenticates at the provider, and a refusal there leads back', async (t) => {
  await using scene = await openScene({ args: ['--sign-up', 'open'] })
  const { provider, server } = scene
  provider.people.set('ada', { email: 'ada@example.com', email_verified: true, given_name: 'Ada' })
  const { page, complaints } = await visit(await openBrowser(t))
  await signInThere(page, server, 'ada')
  await page.goto(`${server.url}/account/tokens/`)
  assert.match(await main(page), /Your account has no password/)
  await page.click('text=Sign in with The office')
  // Although the provider authenticated them a moment ago.
  await proveThere(page, 'ada')
  if (!page.url().startsWith(server.url)) await agreeThere(page)
  assert.equal(new URL(page.url()).pathname, '/account/tokens/')
  assert.match(await main(page), /New token/)

  await page.context().clearCookies()
  await page.goto(`${server.url}/sign-in/`)
  await page.click('text=Sign in with The office')
  await page.click('text=Cancel')
  await page.waitForURL(`${server.url}/**`)
  assert.match(await main(page), /did not sign you in, or you canceled there/)
  assert.deepEqual(complaints, [])
})

test('an unreachable provider shows an error page, and passwords still work', async (t) => {
  await using scene = await openScene()
  const { provider, server } = scene
  await provider.goDown()
  const { page } = await visit(await openBrowser(t))
  await page.goto(`${server.url}/sign-in/`)
  await page.click('text=Sign in with The office')
  assert.match(await main(page), /sign in with your password/)
  await page.click('main a.button')
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
  assert.match(await signedInAs(page, server), /owner@example\.com/)
})

test('a provider response delivered by another browser signs nobody in', async (t) => {
  await using scene = await openScene({ args: ['--sign-up', 'open'] })
  const { provider, server } = scene
  provider.people.set('eve', { email: 'eve@example.com', email_verified: true })
  const browser = await openBrowser(t)
  const eve = await visit(browser)
  await eve.page.goto(`${server.url}/sign-in/`)
  await eve.page.click('text=Sign in with The office')
  await proveThere(eve.page, 'eve')
  // Eve stops before the redirect back and gives its URL to somebody else.
  const { request } = eve.page.context()
  const consent = String(await eve.page.getAttribute('form', 'action'))
  const agreed = await request.post(consent, { form: { prompt: 'consent' }, maxRedirects: 0 })
  const sentBack = await request.get(agreed.headers().location!, { maxRedirects: 0 })
  const answer = sentBack.headers().location!
  assert.match(answer, /code=/)
  const victim = await visit(browser)
  await victim.page.goto(`${server.url}/sign-in/`)
  await victim.page.goto(answer)
  assert.match(await main(victim.page), /has expired/)
  assert.equal(await signedInAs(victim.page, server), 'nobody')
  // The account was hers and still is.
  await eve.page.goto(answer)
  assert.match(await signedInAs(eve.page, server), /eve@example\.com/)
})

test('the dashboard lists, adds and removes linked accounts', async (t) => {
  await buildDashboard()
  await using scene = await openScene()
  const { provider, server } = scene
  provider.people.set('olive', { email: 'olive@work.example', email_verified: true })
  const { page, complaints } = await visit(await openBrowser(t))
  await page.goto(`${server.url}/settings/access`)
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
  await page.waitForURL(`${server.url}/settings/access`)
  await openPasswordPrompt(page)
  await page.getByText('No linked accounts.').waitFor()
  await page.getByRole('link', { name: 'Link The office' }).click()
  await page.click('text=Link The office')
  await proveThere(page, 'olive')
  await agreeThere(page)
  assert.match(await main(page), /The account has been linked/)
  const other = await visit(await openBrowser(t))
  await signInThere(other.page, server, 'olive')
  assert.match(await signedInAs(other.page, server), /owner@example\.com/)

  // The password that was entered still counts.
  await page.goto(`${server.url}/settings/access`)
  const row = page.getByRole('listitem').filter({ hasText: 'The office' })
  await row.getByText('olive@work.example').waitFor()
  await row.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('all your other browsers will have to sign in again').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No linked accounts.').waitFor()
  // This browser stays signed in; the other is signed out.
  assert.equal(await signedInAs(other.page, server), 'nobody')
  assert.match(await signedInAs(page, server), /owner@example\.com/)
  assert.deepEqual(complaints, [])
})

/** The page before the one that opens an account; the password was entered a moment ago. */
async function openPasswordPrompt(page: Page): Promise<void> {
  await page.locator('.password-prompt button').click()
  await page.getByRole('heading', { name: 'Linked accounts' }).waitFor()
}
