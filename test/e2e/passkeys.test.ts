// Passkeys in a real browser, with a virtual authenticator added through the DevTools protocol.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { ownerEmail as email, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { launchChromium } from './browser.ts'

const password = 'correct horse'

type Scene = {
  readonly page: Page
  readonly devtools: CDPSession
  readonly authenticatorId: string
  /** Problems that the browser reported, and requests to other origins. */
  readonly complaints: readonly string[]
}

async function openScene(t: TestContext, server: ServerUnderTest): Promise<Scene> {
  const browser = await launchChromium()
  t.after(() => browser.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-US' })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (/Content Security Policy|WebAuthn/.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(server.url) && !/^(data|blob):/.test(url)) complaints.push(url)
  })
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    automaticPresenceSimulation: true,
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options })
  return { page, devtools, authenticatorId, complaints }
}

async function givePassword(page: Page, { url }: ServerUnderTest): Promise<void> {
  await page.goto(`${url}/sign-in/?next=/account/`)
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button:text-is("Sign in")')
}

async function signOut(page: Page, { url }: ServerUnderTest): Promise<void> {
  await page.goto(`${url}/sign-out/`)
  await page.click('main button')
  await page.waitForURL(/\/sign-in\//)
}

const pathOf = (page: Page): string => new URL(page.url()).pathname

test('a passkey can be added, used as a second factor, used to sign in, and removed', async (t) => {
  await using server = await openServerHere()
  const { page, devtools, authenticatorId, complaints } = await openScene(t, server)
  await givePassword(page, server)
  await page.click('text=Two-factor authentication')
  await page.fill('#name', 'My laptop')
  await page.click('text=Add a passkey')
  await page.waitForSelector('text=Your recovery codes')
  const codes = await page.locator('.codes li').allTextContents()
  assert.equal(codes.length, 10)
  await page.click('text=I have saved my codes')
  await page.waitForSelector('text=My laptop')
  const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId })
  assert.deepEqual(
    credentials.map(({ isResidentCredential, rpId }) => [isResidentCredential, rpId]),
    [[true, 'localhost']],
  )

  await signOut(page, server)
  await givePassword(page, server)
  await page.waitForSelector('h1:text-is("Two-factor authentication")')
  await page.click('text=Use a passkey')
  await page.waitForURL(/\/account\/$/)

  await signOut(page, server)
  await page.click('text=Sign in with a passkey')
  await page.waitForURL((url) => url.pathname === '/')
  await page.goto(`${server.url}/account/`)
  assert.equal(pathOf(page), '/account/')
  // What needs a recent password asks for it and for the passkey again.
  await page.goto(`${server.url}/account/second-factor/`)
  assert.equal(pathOf(page), '/confirm/')
  await page.fill('#password', password)
  await page.click('main button')
  await page.click('text=Use a passkey')
  await page.waitForSelector('text=last used')
  await page.click('main button:has-text("Remove")')
  await page.waitForSelector('text=The second factor was removed')
  await signOut(page, server)
  assert.equal(await page.locator('text=Sign in with a passkey').count(), 0)
  await givePassword(page, server)
  await page.waitForURL(/\/account\/$/)
  assert.deepEqual(complaints, [])
})

test('failed verification or cancellation shows an error, and a code still signs in', async (t) => {
  await using server = await openServerHere()
  const { page, devtools, authenticatorId } = await openScene(t, server)
  await givePassword(page, server)
  await page.goto(`${server.url}/account/second-factor/`)
  await page.click('text=Add a passkey')
  await page.waitForSelector('text=Your recovery codes')
  const [code] = await page.locator('.codes li').allTextContents()
  await signOut(page, server)
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await page.click('text=Sign in with a passkey')
  await page.waitForSelector('text=No matching passkey was found')
  await page.goto(`${server.url}/account/`)
  assert.equal(pathOf(page), '/sign-in/')
  await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
  await givePassword(page, server)
  await page.fill('#code', code!)
  await page.click('main button:text-is("Continue")')
  await page.waitForURL(/\/account\/$/)
})

test('an owner who must set up a second factor is guided there and then to the dashboard', async (t) => {
  await using server = await openServerHere()
  const { page } = await openScene(t, server)
  await server.command('user', 'require-second-factor')
  await page.goto(`${server.url}/`)
  await page.waitForSelector('#email')
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
  await page.waitForSelector('text=Owners of this server must use two-factor authentication')
  for (const path of ['/', '/account/', '/account/tokens/']) {
    await page.goto(`${server.url}${path}`)
    await page.waitForURL(/\/account\/second-factor\//)
  }
  await page.goto(`${server.url}/`)
  await page.waitForURL(/\/account\/second-factor\//)
  await page.click('text=Add a passkey')
  await page.click('text=I have saved my codes')
  await page.waitForURL((url) => url.pathname === '/')
  await page.waitForSelector('nav')
})

test('without JavaScript no passkey is offered and an authenticator app works', async (t) => {
  await using server = await openServerHere()
  const browser = await launchChromium()
  t.after(() => browser.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-US', javaScriptEnabled: false })
  const page = await context.newPage()
  await givePassword(page, server)
  await page.goto(`${server.url}/account/second-factor/`)
  assert.equal(await page.locator('text=Add a passkey').isVisible(), false)
  assert.equal(await page.locator('text=Passkeys require JavaScript').isVisible(), true)
  await page.click('text=Add an authenticator app')
  assert.equal(await page.locator('.qr-code').isVisible(), true)
})
