// What a person does in the dashboard, in a real browser, from the code on the console to playing last minute's footage.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { buildDashboard } from '../../scripts/build-web.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openEmptyServer, type ServerUnderTest } from '../server-under-test.ts'
import { launchChromium, readClock } from './browser.ts'
import { openForeignApp } from './foreign-app.ts'
import { readMailedLink } from './outbox.ts'

const email = 'olive@example.com'
const password = 'owls sing late at night'
const guest = { email: 'gus@example.com', password: 'green owls sing late' }
const screenshots = fileURLToPath(new URL('./screenshots/', import.meta.url))
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let source: FakeCamera
let server: ServerUnderTest
let browser: Browser
/** Olive's, signed in; the tests go on where the one before has left it. */
let page: Page
const complaints: string[] = []

before(async () => {
  await buildDashboard()
  mkdirSync(screenshots, { recursive: true })
  source = await openFakeCamera({ streams: [{ name: 'yard', scene: 'yard', width: 640, height: 360 }] })
  server = await openEmptyServer()
  browser = await launchChromium()
  page = await openPage()
})

after(async () => {
  await browser.close()
  await server[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

async function openPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 1280, height: 860 },
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
    ...options,
  })
  const opened = await context.newPage()
  opened.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text())
  })
  opened.on('pageerror', (error) => complaints.push(error.message))
  opened.on('request', (request) => {
    const { origin } = new URL(request.url())
    if (origin !== new URL(server.url).origin && origin !== 'null') complaints.push(`asked elsewhere: ${request.url()}`)
  })
  return opened
}

async function shoot(name: string, of = page): Promise<void> {
  await of.screenshot({ path: `${screenshots}${name}.png` })
}

test('the code on the console leads to an account, a camera, and its picture', async () => {
  await page.goto(server.url)
  await page.waitForURL(`${server.url}/set-up/`)
  await page.fill('#code', server.setupCode!)
  await page.fill('#first_name', 'Olive')
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button')
  await page.getByText('No camera yet').waitFor()
  await shoot('first-run')
  await page.getByRole('link', { name: 'Add a camera' }).click()
  await page.getByLabel('Address').fill(source.url('yard'))
  await page.getByRole('button', { name: 'Look what is there' }).click()
  await page.getByText('A camera answers').waitFor()
  await shoot('add-camera')
  await page.getByRole('button', { name: 'Use this camera' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Yard')
  await page.getByRole('button', { name: 'Add the camera' }).click()
  await page.waitForURL(/\/cameras\/\d+$/)
  const shown = await eventually('the live picture has a clock', 30_000, () => readClock(page, '.stage video'))
  assert.ok(Math.abs(shown.code.unixMs - Date.now()) < 15_000)
  const later = await eventually('the picture moves', 10_000, async () => {
    const now = await readClock(page, '.stage video')
    return now && now.code.frameNumber > shown.code.frameNumber && now
  })
  assert.ok(later)
  await shoot('camera-live')
})

test('a click on the timeline plays that moment, to within a group of pictures', async () => {
  await eventually('there is some footage', 30_000, async () => (await page.locator('.timeline-footage').count()) > 0)
  const startedMs = Date.now()
  await eventually('twenty seconds are recorded', 60_000, async () => Date.now() - startedMs > 20_000)
  const timeline = page.getByRole('slider', { name: 'Timeline' })
  for (let step = 0; step < 12; step++) await page.getByRole('button', { name: 'Less time' }).click()
  const box = (await timeline.boundingBox())!
  const nowX = Number(await page.locator('.timeline-cursor').getAttribute('x1'))
  const shownMs = Date.parse((await page.locator('.controls time').getAttribute('datetime'))!)
  const wantedMs = shownMs - 12_000
  // A minute is shown.
  await page.mouse.click(box.x + nowX - (12 / 60) * box.width, box.y + box.height / 2)
  await page.waitForURL(/\?at=/)
  const askedMs = Date.parse(new URL(page.url()).searchParams.get('at')!)
  assert.ok(Math.abs(askedMs - wantedMs) < 4_000, `${askedMs - wantedMs} ms beside`)
  const shown = await eventually('recorded footage is shown', 30_000, () => readClock(page, '.stage video'))
  assert.ok(shown.code.unixMs >= askedMs - 1_500, 'not before what was asked')
  assert.ok(shown.code.unixMs < askedMs + 10_000, 'soon after')
  await page.getByRole('button', { name: 'Pause' }).click()
  await eventually('the picture stands, and the clock beside it agrees', 10_000, async () => {
    const [first, label] = [
      await readClock(page, '.stage video'),
      await page.locator('.controls time').getAttribute('datetime'),
    ]
    return first !== undefined && Math.abs(Date.parse(label!) - first.code.unixMs) < 1_500
  })
  await shoot('camera-recorded')
  await page.getByRole('button', { name: 'Back to live' }).click()
  await page.waitForURL((url) => !url.search.includes('at='))
})

test('a link to a moment of a camera opens at that moment', async () => {
  const at = new Date(Date.now() - 15_000).toISOString().replace(/\.\d+/, '')
  await page.goto(`${page.url()}?at=${at}`)
  const shown = await eventually('the moment is shown', 30_000, () => readClock(page, '.stage video'))
  assert.ok(Math.abs(shown.code.unixMs - Date.parse(at)) < 12_000)
})

test('a token made in the page works in other programs, and is refused once it is revoked', async () => {
  await page.goto(`${server.url}/settings/tokens`)
  await page.getByRole('button', { name: 'Give the password' }).click()
  await page.getByLabel('What is it for?').fill('Porch light')
  await page.getByRole('button', { name: 'Make the token' }).click()
  const token = await page.locator('.secret').textContent().then(String)
  const ask = () => server.request('/v1/me/', { authorization: `PersonalAccessToken ${token}` })
  assert.equal((await ask()).status, 200)
  await shoot('settings-tokens')
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('There are none.').waitFor()
  assert.equal((await ask()).status, 401)
})

test('an application made in the page signs people in', async () => {
  await using app = await openForeignApp()
  await page.getByRole('link', { name: 'Your applications' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Porch Light')
  await page.getByLabel('Redirect addresses').fill(app.redirectUri)
  await page.getByRole('button', { name: 'Register the application' }).click()
  const clientId = await page.locator('form code').first().textContent().then(String)
  const secret = await page.locator('.secret').textContent().then(String)
  await shoot('settings-applications')
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
  await page.getByRole('link', { name: 'Who is signed in' }).click()
  await page.getByText('Porch Light').waitFor()
  await page.getByRole('button', { name: 'End access' }).click()
  await page.getByText('There are none.').waitFor()
  assert.equal((await server.request('/v1/me/', { authorization: `Bearer ${tokens.json.access_token}` })).status, 401)
})

test('an invited guest makes an account in a browser of their own and sees the camera, until the invitation ends', async () => {
  await page.goto(`${server.url}/`)
  await page.getByRole('link', { name: 'Yard' }).click()
  await page.getByRole('link', { name: 'Guests' }).click()
  await page.getByLabel('E-mail address').fill(guest.email)
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByText(`${guest.email} was invited.`).waitFor()
  const theirs = await openPage({ viewport: { width: 390, height: 800 } })
  await theirs.goto(await readMailedLink(server, guest.email))
  await theirs.fill('#first_name', 'Gus')
  await theirs.fill('#password', guest.password)
  await theirs.click('main button')
  await theirs.goto(`${server.url}/`)
  await theirs.getByRole('link', { name: 'Yard' }).click()
  await theirs.getByText('its recordings are not shared with you').waitFor()
  await eventually('the guest sees the picture', 30_000, () => readClock(theirs, '.stage video'))
  await shoot('guest-phone', theirs)
  await page.getByRole('listitem').getByLabel('May see recordings').check()
  await theirs.getByRole('slider', { name: 'Timeline' }).waitFor()
  await page.getByText('Gus', { exact: true }).waitFor()
  await shoot('guests')
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No guests yet').waitFor()
  await theirs.getByText('does not exist any more').waitFor()
  await theirs.context().close()
})

test('while the server is away the page says so; it goes on by itself when it is back', async () => {
  await page.goto(`${server.url}/`)
  await page.getByRole('link', { name: 'Yard' }).waitFor()
  await server.kill()
  await page.getByText('The server cannot be reached').waitFor()
  await shoot('server-away')
  await server.start()
  await page.getByText('The server cannot be reached').waitFor({ state: 'detached', timeout: 30_000 })
  await page.getByText('Online').waitFor()
})

test('the keyboard alone leads from the wall to a moment of a camera', async () => {
  await page.goto(`${server.url}/`)
  const name = page.getByRole('link', { name: 'Yard' })
  await name.waitFor()
  await pressUntil(() => name.evaluate((element) => element === element.ownerDocument.activeElement))
  await page.keyboard.press('Enter')
  const timeline = page.getByRole('slider', { name: 'Timeline' })
  await timeline.waitFor()
  await pressUntil(() => timeline.evaluate((element) => element === element.ownerDocument.activeElement))
  await page.keyboard.press('Shift+ArrowLeft')
  await page.waitForURL(/\?at=/)
  await eventually('the moment is shown', 30_000, () => readClock(page, '.stage video'))
})

async function pressUntil(isThere: () => Promise<boolean>): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if (await isThere()) return
    await page.keyboard.press('Tab')
  }
  assert.fail('the keyboard does not get there')
}

test('every view: axe finds nothing, light and dark, in both languages, and a phone shows it whole', async () => {
  const cameraPath = new URL(page.url()).pathname
  const paths = [
    '/',
    '/add',
    '/events',
    cameraPath,
    `${cameraPath}/guests`,
    '/settings',
    '/settings/look',
    '/settings/tokens',
  ]
  const state = await page.context().storageState()
  for (const [colorScheme, width, locale] of [
    ['light', 1280, 'en-US'],
    ['dark', 360, 'de-DE'],
  ] as const) {
    const visitor = await openPage({ storageState: state, colorScheme, locale, viewport: { width, height: 800 } })
    for (const path of paths) {
      await visitor.goto(server.url + path)
      await visitor.locator('h1').waitFor()
      await visitor.locator('[aria-busy=true]').waitFor({ state: 'detached' })
      await shoot(`view-${path.replaceAll('/', '-')}-${colorScheme}-${width}`, visitor)
      const tooWide = await visitor.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      assert.ok(tooWide <= 0, `${path} is ${tooWide} pixels too wide for ${width}`)
      await visitor.evaluate(axeSource)
      const { violations } = await visitor.evaluate<AxeResults>('axe.run()')
      const found = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
      )
      assert.deepEqual(found, [], `${path}, ${colorScheme}`)
    }
    await visitor.context().close()
  }
})

test('nothing was asked of another origin, nothing against the policy, nothing failed in a page', () => {
  const serious = complaints.filter((complaint) => !/ERR_CONNECTION/.test(complaint))
  assert.deepEqual(serious, [])
})
