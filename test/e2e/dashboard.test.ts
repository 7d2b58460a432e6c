// The dashboard in a real browser, from the setup code on the console to playing footage of the last minute.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openEmptyServer, type ServerUnderTest } from '../server-under-test.ts'
import { readClock } from './browser.ts'
import { checkAccessible, type DashboardScene, openDashboard, shoot, tabTo } from './dashboard-scene.ts'
import { openForeignApp } from './foreign-app.ts'

const email = 'olive@example.com'
const password = 'owls sing late at night'
const guest = { email: 'gus@example.com', password: 'green owls sing late' }

let source: FakeCamera
let scene: DashboardScene
let server: ServerUnderTest
/** Olive's signed-in page; each test continues where the previous one ended. */
let page: Page
/** When the camera was added. */
let openedMs: number

before(async () => {
  source = await openFakeCamera({ streams: [{ name: 'yard', scene: 'yard', width: 640, height: 360 }] })
  scene = await openDashboard(openEmptyServer)
  server = scene.server
  page = await scene.openPage()
})

after(async () => {
  await scene[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

test('the setup code on the console leads to an account, a camera and its video', async () => {
  await page.goto(server.url)
  await page.waitForURL(`${server.url}/set-up/`)
  await page.fill('#code', server.setupCode!)
  await page.fill('#first_name', 'Olive')
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
  await page.getByText('No cameras yet').waitFor()
  await shoot(page, 'first-run')
  await page.getByRole('link', { name: 'Add camera' }).click()
  await page.getByLabel('Camera URL').fill(source.url('yard'))
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByText('Camera found').waitFor()
  await shoot(page, 'add-camera')
  await page.getByRole('button', { name: 'Use this camera' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Yard')
  await page.getByRole('button', { name: 'Add camera' }).click()
  await page.waitForURL(/\/cameras\/\d+$/)
  openedMs = Date.now()
  await eventually('a frame is shown that did not exist when the page was opened', 30_000, async () => {
    const now = await readClock(page, '.stage video')
    return now && now.code.unixMs > openedMs
  })
  openedMs = Date.now()
  await shoot(page, 'camera-live')
})

test('a link to a moment in the last minute plays that footage', async () => {
  await eventually('there is some footage', 60_000, async () => {
    const first = await page.locator('.timeline-footage').count()
    return first > 0 && Date.now() - openedMs > 16_000
  })
  const at = new Date(Date.now() - 15_000).toISOString().replace(/\.\d+/, '')
  await page.goto(`${page.url()}?at=${at}`)
  const shown = await eventually('the moment is shown', 30_000, () => readClock(page, '.stage video'))
  assert.ok(Math.abs(shown.code.unixMs - Date.parse(at)) < 12_000)
})

test('a token created in the dashboard works in other programs and is refused once revoked', async () => {
  await page.goto(`${server.url}/settings/tokens`)
  await page.getByRole('button', { name: 'Enter your password' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Porch light')
  await page.getByRole('button', { name: 'Create token' }).click()
  const token = await page.locator('.secret').textContent().then(String)
  const ask = () => server.request('/v1/me/', { authorization: `PersonalAccessToken ${token}` })
  assert.equal((await ask()).status, 200)
  await shoot(page, 'settings-tokens')
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No access tokens.').waitFor()
  assert.equal((await ask()).status, 401)
})

test('an application registered in the dashboard signs users in', async () => {
  await using app = await openForeignApp()
  await page.getByRole('link', { name: 'Your applications' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Porch Light')
  await page.getByLabel('Redirect URIs').fill(app.redirectUri)
  await page.getByRole('button', { name: 'Register application' }).click()
  const clientId = await page.locator('form code').first().textContent().then(String)
  const secret = await page.locator('.secret').textContent().then(String)
  await shoot(page, 'settings-applications')
  const visitor = await page.context().newPage()
  const query = { response_type: 'code', client_id: clientId, redirect_uri: app.redirectUri, scope: 'read', state: 'x' }
  await visitor.goto(`${server.url}/oauth/authorize/?${new URLSearchParams(query)}`)
  await visitor.getByRole('button', { name: 'Allow', exact: true }).click()
  await visitor.waitForURL(`${app.redirectUri}*`)
  const code = app.calls[0]!.get('code')!
  const form = {
    grant_type: 'authorization_code',
    client_id: clientId,
    client_secret: secret,
    code,
    redirect_uri: app.redirectUri,
  }
  const tokens = await server.request<{ access_token: string }>('/oauth/token/', {
    method: 'POST',
    authorization: null,
    form,
  })
  assert.equal(tokens.status, 200)
  assert.equal((await server.request('/v1/me/', { authorization: `Bearer ${tokens.json.access_token}` })).status, 200)
  await visitor.close()
  await page.getByRole('link', { name: 'Sessions' }).click()
  await page.getByText(/^this browser · last used/).waitFor()
  await page.getByText('Porch Light').waitFor()
  await page.getByRole('button', { name: 'Revoke access' }).click()
  await page.getByText('No connected applications.').waitFor()
  assert.equal((await server.request('/v1/me/', { authorization: `Bearer ${tokens.json.access_token}` })).status, 401)
})

test('an invited guest creates an account in another browser and sees the camera until the invitation ends', async () => {
  await page.goto(`${server.url}/`)
  await page.getByRole('link', { name: 'Yard' }).click()
  await page.getByRole('link', { name: 'Guests' }).click()
  await page.getByLabel('Email address').fill(guest.email)
  // The server sends the invitation, and its response is lost.
  await page.route(/\/guests\/$/, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch()
    await route.abort('connectionreset')
  })
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByText(`${guest.email} was invited.`).waitFor()
  await page.unroute(/\/guests\/$/)
  const theirs = await scene.openPage({ viewport: { width: 390, height: 800 } })
  await page.getByRole('button', { name: 'Invitation link' }).click()
  await theirs.goto((await page.locator('.secret').textContent())!)
  await theirs.fill('#first_name', 'Gus')
  await theirs.fill('#password', guest.password)
  await theirs.click('main button')
  await theirs.goto(`${server.url}/`)
  await theirs.getByRole('link', { name: 'Yard' }).click()
  await theirs.getByText('they are not shared with you').waitFor()
  await eventually('the guest sees the frame', 30_000, () => readClock(theirs, '.stage video'))
  await shoot(theirs, 'guest-phone')
  await page.getByRole('listitem').getByLabel('Can view recordings').check()
  await theirs.getByRole('slider', { name: 'Timeline' }).waitFor()
  await page.getByText('Gus', { exact: true }).waitFor()
  await shoot(page, 'guests')
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No guests yet').waitFor()
  await theirs.getByText('no longer exists').waitFor()

  const ofCamera = ['--camera', '1'] as const
  await server.command('guest', 'add', ...ofCamera, '--email', guest.email)
  await theirs.goto(`${server.url}/`)
  await theirs.getByRole('link', { name: 'Yard' }).click()
  await theirs.getByRole('button', { name: 'Remove from my list' }).click()
  await shoot(theirs, 'guest-leaves')
  await theirs.getByRole('dialog').getByRole('button', { name: 'Remove from my list' }).click()
  await theirs.getByText('No cameras yet').waitFor()
  const { guests } = await server.command<{ guests: unknown[] }>('guest', 'list', ...ofCamera)
  assert.deepEqual(guests, [])
  await theirs.context().close()
})

test('the keyboard alone leads from the wall to a moment of a camera', async () => {
  await page.goto(`${server.url}/`)
  await tabTo(page, 'link', 'Yard')
  await page.keyboard.press('Enter')
  await tabTo(page, 'slider', 'Timeline')
  await page.keyboard.press('Shift+ArrowLeft')
  await page.waitForURL(/\?at=/)
  await eventually('the moment is shown', 30_000, () => readClock(page, '.stage video'))
})

test('every view: axe finds no violations, light and dark, in both languages, and it fits a phone', async () => {
  const cameraPath = new URL(page.url()).pathname
  const paths = [
    '/',
    '/add',
    '/events',
    cameraPath,
    `${cameraPath}/guests`,
    `${cameraPath}/settings`,
    '/settings',
    '/settings/look',
    '/settings/storage',
    '/settings/tokens',
    '/settings/server',
  ]
  const state = await page.context().storageState()
  for (const [colorScheme, width, locale] of [
    ['light', 1280, 'en-US'],
    ['dark', 360, 'de-DE'],
  ] as const) {
    const visitor = await scene.openPage({ storageState: state, colorScheme, locale, viewport: { width, height: 800 } })
    for (const path of paths) {
      await visitor.goto(server.url + path)
      await visitor.locator('h1').waitFor()
      await visitor.locator('[aria-busy=true]').waitFor({ state: 'detached' })
      await shoot(visitor, `view-${path.replaceAll('/', '-')}-${colorScheme}-${width}`)
      await checkAccessible(visitor)
    }
    await visitor.context().close()
  }
})

test('no page requested another origin, violated the content security policy or logged an error', () => {
  const serious = scene.complaints.filter((complaint) => !/ERR_CONNECTION/.test(complaint))
  assert.deepEqual(serious, [])
})
