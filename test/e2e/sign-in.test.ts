// Sign-in, sign-up and password reset in a browser with JavaScript disabled, against the real server.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import {
  ownerEmail as email,
  eventually,
  openEmptyServer,
  openServerHere,
  type ServerUnderTest,
} from '../server-under-test.ts'
import { launchChromium } from './browser.ts'
import { openForeignApp } from './foreign-app.ts'
import { readMailedLink } from './outbox.ts'

const password = 'correct horse'

type Visitor = { readonly page: Page; readonly complaints: readonly string[] }

async function openBrowser(t: TestContext): Promise<Browser> {
  const browser = await launchChromium()
  t.after(() => browser.close())
  return browser
}

/** A separate browser with JavaScript disabled. */
async function visit(browser: Browser): Promise<Visitor> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, javaScriptEnabled: false })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) complaints.push(message.text())
  })
  return { page, complaints }
}

async function signIn(page: Page): Promise<void> {
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
}

type App = { readonly client_id: string; readonly client_secret: string }

async function addApp(server: ServerUnderTest, name: string, redirectUri: string): Promise<App> {
  return server.command('app', 'add', '--user', email, '--name', name, '--redirect-uris', redirectUri)
}

function authorizeUrl({ url }: ServerUnderTest, { client_id }: App, query: Record<string, string>): string {
  const all = { response_type: 'code', client_id, scope: 'read', ...query }
  return `${url}/oauth/authorize/?${new URLSearchParams(all)}`
}

test('T45: the owner sets up the server, signs out and signs in', async (t) => {
  await using server = await openEmptyServer()
  const { page } = await visit(await openBrowser(t))
  await page.goto(`${server.url}/account/`)
  assert.equal(new URL(page.url()).pathname, '/set-up/')
  await page.fill('#code', server.setupCode!)
  await page.fill('#first_name', 'Olive')
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
  assert.equal(new URL(page.url()).pathname, '/')
  await page.goto(`${server.url}/account/`)
  await page.click('text=Sign out')
  await page.click('main button')
  assert.match(await page.textContent('main').then(String), /You have been signed out/)
  await signIn(page)
  assert.equal(new URL(page.url()).pathname, '/')
})

test('T28: allow and deny reach an application on another origin over HTTPS and on localhost', async (t) => {
  await using server = await openServerHere()
  const browser = await openBrowser(t)
  for (const tls of [true, false]) {
    await using foreign = await openForeignApp({ tls })
    const { redirectUri: redirect_uri, calls } = foreign
    const app = await addApp(server, tls ? 'Web' : 'Desktop', redirect_uri)
    const { page, complaints } = await visit(browser)
    const state = 'a b+c%20&d=é 漢字 🦉'
    await page.goto(authorizeUrl(server, app, { redirect_uri, state }))
    await signIn(page)
    await page.click('button:text-is("Deny")')
    await page.waitForURL(`${foreign.origin}/**`)
    assert.equal(calls.at(-1)!.get('error'), 'access_denied')
    await page.goto(authorizeUrl(server, app, { redirect_uri, state }))
    await page.click('button:text-is("Allow")')
    await page.waitForURL(`${foreign.origin}/**`)
    const answer = calls.at(-1)!
    assert.match(answer.get('code')!, /^njac_/)
    assert.equal(answer.get('state'), state)
    assert.equal(answer.get('iss'), server.url)
    // Errors are reported to the application right after the sign-in form: one more redirect.
    await page.context().clearCookies()
    await page.goto(authorizeUrl(server, app, { redirect_uri, scope: 'everything' }))
    await signIn(page)
    await page.waitForURL(`${foreign.origin}/**`)
    assert.equal(calls.at(-1)!.get('error'), 'invalid_scope')
    assert.deepEqual(complaints, [])
  }
})

test('T28: allow reaches a program with a custom URL scheme', async (t) => {
  await using server = await openServerHere()
  const redirect_uri = 'com.example.viewer:/callback'
  const app = await addApp(server, 'Viewer', redirect_uri)
  const { page, complaints } = await visit(await openBrowser(t))
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const locations: string[] = []
  session.on('Network.responseReceivedExtraInfo', ({ headers }) => {
    const location = headers.location ?? headers.Location
    if (location !== undefined) locations.push(location)
  })
  await page.goto(authorizeUrl(server, app, { redirect_uri, state: 's' }))
  await signIn(page)
  assert.match(String(await page.textContent('main')), /com\.example\.viewer/)
  await page.click('button:text-is("Allow")')
  await eventually('the way to the program', 10_000, async () =>
    locations.some((location) => /^com\.example\.viewer:\/callback\?code=njac_/.test(location)),
  )
  await page.waitForTimeout(300) // for a complaint
  assert.deepEqual(complaints, [])
})

test('T28: an application may redirect further, to a program on the device', async (t) => {
  await using server = await openServerHere()
  await using program = await openForeignApp()
  const browser = await openBrowser(t)
  for (const onward of [program.redirectUri, 'com.example.viewer:/callback']) {
    await using foreign = await openForeignApp({ tls: true, onward })
    const app = await addApp(server, 'Web', foreign.redirectUri)
    const { page, complaints } = await visit(browser)
    await page.goto(authorizeUrl(server, app, { redirect_uri: foreign.redirectUri, state: onward }))
    await signIn(page)
    await page.click('button:text-is("Allow")')
    if (onward === program.redirectUri) {
      await page.waitForURL(`${program.origin}/**`)
      assert.equal(program.calls.at(-1)!.get('state'), onward)
    } else {
      await eventually('the application', 10_000, async () => foreign.calls.length === 1)
      await page.waitForTimeout(500) // for a complaint
    }
    assert.deepEqual(complaints, [])
  }
})

test('two tabs that a new browser opens together both reach their applications', async (t) => {
  await using server = await openServerHere()
  await using foreign = await openForeignApp({ tls: true })
  const { redirectUri: redirect_uri } = foreign
  const app = await addApp(server, 'Web', redirect_uri)
  const context = await (await openBrowser(t)).newContext({ ignoreHTTPSErrors: true })
  const tabs = await Promise.all(['one', 'two'].map(async (state) => ({ state, page: await context.newPage() })))
  await Promise.all(tabs.map(({ state, page }) => page.goto(authorizeUrl(server, app, { redirect_uri, state }))))
  for (const { state, page } of tabs) {
    await signIn(page)
    await page.click('button:text-is("Allow")')
    await page.waitForURL(`${foreign.origin}/**`)
    assert.equal(foreign.calls.at(-1)!.get('state'), state)
  }
})

test('a double click on a slow line reaches the application', async (t) => {
  await using server = await openServerHere()
  await using foreign = await openForeignApp({ tls: true })
  const { redirectUri: redirect_uri } = foreign
  const app = await addApp(server, 'Web', redirect_uri)
  const context = await (await openBrowser(t)).newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  await page.goto(authorizeUrl(server, app, { redirect_uri, state: 's' }))
  await signIn(page)
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  const slow = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 }
  await session.send('Network.emulateNetworkConditions', slow)
  await page.getByRole('button', { name: 'Allow' }).evaluate((button: { click(): void }) => {
    button.click()
    setTimeout(() => button.click(), 350)
  })
  // The first of both navigations ends with an error.
  await eventually('the application', 10_000, async () => page.url().startsWith(foreign.origin))
  const call = foreign.calls.at(-1)!
  assert.equal(call.get('state'), 's')
  const exchange = { grant_type: 'authorization_code', redirect_uri, code: call.get('code')! }
  const form = { ...exchange, client_id: app.client_id, client_secret: app.client_secret }
  const { status, text } = await server.request('/oauth/token/', { method: 'POST', authorization: null, form })
  assert.equal(status, 200, text)
})

test('T28: no page can be framed', async (t) => {
  await using server = await openServerHere()
  const browser = await openBrowser(t)
  for (const path of ['/sign-in/', '/account/', '/reset/']) {
    await using foreign = await openForeignApp({ frame: `${server.url}${path}` })
    const { page } = await visit(browser)
    await page.goto(foreign.origin, { waitUntil: 'load' })
    const [, frame] = page.frames()
    assert.equal(await frame!.locator('main').count(), 0, path)
    assert.match(frame!.url(), /^chrome-error:/)
    await page.context().close()
  }
})

test('T8: an unregistered redirect URI is refused on a page before sign-in', async (t) => {
  await using server = await openServerHere()
  const app = await addApp(server, 'Web', 'https://app.example/cb')
  const { page } = await visit(await openBrowser(t))
  const answer = await page.goto(authorizeUrl(server, app, { redirect_uri: 'https://evil.example/cb' }))
  assert.equal(answer!.status(), 400)
  assert.match(String(await page.textContent('main')), /Mismatching redirect URI\./)
})

test('T27: a form on another site can sign nobody in or out', async (t) => {
  await using server = await openServerHere()
  const browser = await openBrowser(t)
  const { page } = await visit(browser)
  await page.goto(`${server.url}/sign-in/`)
  await signIn(page)
  await using foreign = await openForeignApp()
  const attack = await page.context().newPage()
  for (const path of ['/sign-out/', '/sign-in/', '/account/password/']) {
    await attack.goto(foreign.origin)
    await attack.setContent(`<form method="post" action="${server.url}${path}"><button>Win</button></form>`)
    const answered = attack.waitForResponse((response) => response.url() === server.url + path)
    await attack.click('button')
    assert.equal((await answered).status(), 403)
  }
  await page.goto(`${server.url}/account/`)
  assert.equal(new URL(page.url()).pathname, '/account/')
})

test('resetting a forgotten password by email signs out every browser', async (t) => {
  await using server = await openServerHere()
  const browser = await openBrowser(t)
  const old = await visit(browser)
  await old.page.goto(`${server.url}/sign-in/`)
  await signIn(old.page)
  const { page } = await visit(browser)
  await page.goto(`${server.url}/sign-in/`)
  await page.click('text=Forgot your password?')
  await page.fill('#email', email)
  await page.click('main button')
  await page.goto(await readMailedLink(server, email))
  await page.fill('#password', 'green owls sing late')
  await page.click('main button')
  assert.match(String(await page.textContent('main')), /Your password has been changed/)
  await old.page.goto(`${server.url}/account/`)
  assert.equal(new URL(old.page.url()).pathname, '/sign-in/')
})

test('an invited person creates an account', async (t) => {
  await using server = await openServerHere()
  const body = { email: 'guest@example.com' }
  assert.ok((await server.request('/v1/users/invitations/', { method: 'POST', body })).status < 300)
  const { page } = await visit(await openBrowser(t))
  const link = await readMailedLink(server, 'guest@example.com')
  await page.goto(link)
  await page.fill('#first_name', 'Gus')
  await page.fill('#password', 'green owls sing late')
  await page.click('main button')
  await page.goto(`${server.url}/account/`)
  assert.match(String(await page.textContent('main')), /guest@example\.com/)
  assert.equal((await page.goto(link))!.status(), 404)
})
