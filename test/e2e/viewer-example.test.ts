// The example web application on its own origin: everything a third-party page does with the API.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { openSdkProject, type Project } from '../sdk-project.ts'
import { ownerEmail as email, eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { launchChromium, readClock } from './browser.ts'

let camera: FakeCamera
let server: ServerUnderTest
let project: Project
let browser: Browser
let application: ChildProcess
/** Origin of the application's page. */
let origin: string
let cameraId: number

before(async () => {
  camera = await openFakeCamera({
    streams: [{ name: 'door', scene: 'door', width: 640, height: 360, framesPerSecond: 15, gopFrames: 15 }],
  })
  server = await openServerHere()
  const url = camera.url('door')
  const add = ['--user', email, '--name', 'Door', '--url', url, '--record', 'P1D']
  cameraId = (await server.command<{ id: number }>('camera', 'add', ...add)).id
  const app = ['--user', email, '--name', 'Porch viewer', '--public', '--redirect-uris', 'http://127.0.0.1/']
  const { client_id } = await server.command<{ client_id: string }>('app', 'add', ...app)
  project = await openSdkProject({
    from: fileURLToPath(new URL('../../examples', import.meta.url)),
    packages: ['hls.js'],
  })
  const args = ['viewer/serve.js', '--server', server.url, '--client-id', client_id, '--port', '0']
  application = spawn(process.execPath, args, { cwd: project.folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface(application.stdout!), 'line')
  origin = new URL(line).origin
  browser = await launchChromium()
  await eventually('footage', 20_000, async () => (await recordingStartMs()) > 0)
})

after(async () => {
  await browser?.close()
  application?.kill()
  await project?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  await camera?.[Symbol.asyncDispose]()
})

async function recordingStartMs(): Promise<number> {
  const { json } = await server.request<{ recording_start: string | null }>(`/v1/cameras/${cameraId}/recording/`)
  return json.recording_start === null ? 0 : Date.parse(json.recording_start)
}

type Visit = {
  readonly page: Page
  /** Path and status of each preflight request. */
  readonly preflights: Map<string, number>
  readonly complaints: string[]
}

async function visit(): Promise<Visit> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1100, height: 900 } })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  const preflights = new Map<string, number>()
  const pathOf = new Map<string, string>()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.method === 'OPTIONS') pathOf.set(requestId, new URL(request.url).pathname)
  })
  devtools.on('Network.responseReceived', ({ requestId, response }) => {
    const path = pathOf.get(requestId)
    if (path !== undefined) preflights.set(path, response.status)
  })
  return { page, preflights, complaints }
}

async function signIn(page: Page, { answer = 'Allow', as = email } = {}): Promise<void> {
  await page.click('#sign-in')
  await page.fill('#email', as)
  await page.fill('#password', 'correct horse')
  await page.click('main button')
  await page.click(`button:text-is("${answer}")`)
  await page.waitForURL(`${origin}/**`)
}

const message = async (page: Page, text: RegExp) => {
  await eventually(`the page says ${text}`, 15_000, async () => text.test(String(await page.textContent('#message'))))
}

test('T38: a page on another origin can list cameras, show live video and play a recording', async () => {
  const { page, preflights, complaints } = await visit()
  await page.goto(origin)
  await message(page, /The server says: Authentication credentials were not provided\./) // the body of a 401
  await signIn(page)
  await message(page, /Signed in as owner@example\.com\./)
  assert.equal(page.url(), `${origin}/`) // neither code nor state is left in it
  for (const path of ['/v1/me/', '/v1/cameras/', '/v1/shared-cameras/']) assert.equal(preflights.get(path), 204, path)
  assert.deepEqual(await page.locator('article h2').allTextContents(), ['Door'])

  const first = await eventually('a live frame', 20_000, () => readClock(page, 'article img'))
  const later = await eventually('a later live frame', 20_000, async () => {
    const clock = await readClock(page, 'article img')
    return clock && clock.code.frameNumber > first.code.frameNumber && clock
  })
  assert.ok(later.code.unixMs > first.code.unixMs)

  await page.click('text=Play the recording')
  const begun = await eventually('a recorded frame', 30_000, () => readClock(page, 'article video'))
  const played = await eventually('a later recorded frame', 30_000, async () => {
    const clock = await readClock(page, 'article video')
    return clock && clock.code.frameNumber > begun.code.frameNumber && clock
  })
  assert.ok(begun.code.unixMs >= (await recordingStartMs()) - 1000)
  assert.ok(played.code.unixMs < Date.now())
  assert.deepEqual(complaints, [])
})

test('a page whose grant was revoked sees the reason and can sign in again', async () => {
  const { page, complaints } = await visit()
  await page.goto(origin)
  await signIn(page)
  await message(page, /Signed in as/)
  const manage = ['--user', email, '--scope', 'account_manage']
  const { token } = await server.command<{ token: string }>('token', 'create', ...manage)
  const authorization = `PersonalAccessToken ${token}`
  const { json } = await server.request<{ results: { id: number }[] }>('/v1/me/authorizations/', { authorization })
  for (const { id } of json.results) {
    await server.request(`/v1/me/authorizations/${id}/`, { method: 'DELETE', authorization })
  }
  await page.click('#refresh')
  await message(page, /The session has ended\. Please sign in again\./)
  assert.equal(await page.locator('article').count(), 0)
  await page.click('#sign-in') // the browser's own session with the server is still there
  await page.click('button:text-is("Allow")')
  await message(page, /Signed in as/)
  await page.click('#sign-out')
  await message(page, /You are not signed in\./)
  assert.deepEqual(complaints, [])
})

test('a guest sees a shared camera live and its recordings only if permitted', async () => {
  const guest = 'guest@example.com'
  const names = ['--first-name', 'Gwen', '--last-name', 'Guest']
  await server.command('user', 'add', '--password', 'correct horse', '--email', guest, ...names)
  const invited = await server.request<{ id: number }>(`/v1/cameras/${cameraId}/guests/`, {
    method: 'POST',
    body: { email: guest },
  })
  const { page, complaints } = await visit()
  await page.goto(origin)
  await signIn(page, { as: guest })
  await message(page, /Signed in as guest@example\.com\./)
  assert.deepEqual(await page.locator('article h2').allTextContents(), [`Door, shared by ${email}`])
  await eventually('a live frame', 20_000, () => readClock(page, 'article img'))
  assert.equal(await page.isVisible('text=Play the recording'), false)
  const body = { permissions: { can_view_rec: true } }
  await server.request(`/v1/cameras/${cameraId}/guests/${invited.json.id}/`, { method: 'PUT', body })
  await page.click('#refresh')
  await page.click('text=Play the recording')
  await eventually('a recorded frame', 30_000, () => readClock(page, 'article video'))
  await server.request(`/v1/cameras/${cameraId}/guests/${invited.json.id}/`, { method: 'DELETE' })
  await page.click('#refresh')
  await message(page, /guest@example\.com has no cameras\./)
  assert.deepEqual(complaints, [])
})

test('an application learns that the user denied access', async () => {
  const { page, complaints } = await visit()
  await page.goto(origin)
  await signIn(page, { answer: 'Deny' })
  await message(page, /refused|denied|declined|not allow/i)
  assert.equal(page.url(), `${origin}/`)
  await page.goto(`${origin}/?code=njac_x&state=of-somebody-else`)
  await message(page, /another attempt to sign in/)
  assert.deepEqual(complaints, [])
})

test('the example application serves only its page and modules', async () => {
  for (const path of ['/', '/viewer.js', '/modules/hls.js', '/modules/nightjar-sdk/generated/operations.js']) {
    assert.equal((await fetch(origin + path)).status, 200, path)
  }
  for (const path of [
    '/serve.js',
    '/package.json',
    '/%2e%2e/package.json',
    '/modules/nightjar-sdk/../x.js',
    '/none.js',
  ]) {
    assert.equal((await fetch(origin + path)).status, 404, path)
  }
  const bad = spawn(process.execPath, [join(project.folder, 'viewer', 'serve.js'), '--bogus'], { stdio: 'ignore' })
  assert.deepEqual(await once(bad, 'exit'), [2, null])
})
