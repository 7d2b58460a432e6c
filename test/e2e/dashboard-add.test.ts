// Adding a camera in the dashboard: what a URL provides, why it fails, and that a camera is never added twice.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { openOnvifCamera } from '../onvif/onvif-camera.ts'
import { openServerHere } from '../server-under-test.ts'
import { readClock } from './browser.ts'
import { checkAccessible, type DashboardScene, openDashboard, shoot, tabTo } from './dashboard-scene.ts'

const credentials = { username: 'viewer', password: 'sesame' }

let scene: DashboardScene
let source: FakeCamera
let page: Page

before(async () => {
  source = await openFakeCamera({
    streams: [{ name: 'stream1', scene: 'yard', width: 640, height: 360 }],
    auth: { scheme: 'digest-md5', ...credentials },
  })
  scene = await openDashboard(openServerHere)
  page = await scene.openPage()
  await scene.signIn(page, '/add')
})

after(async () => {
  await scene[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

const listNames = async () => {
  const { json } = await scene.server.request<{ results: { name: string }[] }>('/v1/cameras/')
  return json.results.map(({ name }) => name)
}
const look = () => page.getByRole('button', { name: 'Test connection' }).click()

test('the reason for missing video is explained, with advice', async () => {
  const urlField = page.getByLabel('Camera URL')
  await urlField.fill('my yard')
  await look()
  await page.getByText('The camera URL cannot be used').waitFor()
  await urlField.fill('rtsp://127.0.0.1:9/stream1')
  await look()
  await page.getByRole('heading', { name: 'No device responds at this address' }).waitFor()
  await urlField.fill(source.url('stream1'))
  await look()
  await page.getByRole('heading', { name: 'The camera requires a username and password' }).waitFor()
  await page.getByLabel('Camera username').fill(credentials.username)
  await page.getByLabel('Camera password').fill('open')
  await look()
  await page.getByRole('heading', { name: 'The camera rejected the username or password' }).waitFor()
  await page.getByLabel('Camera password').fill(credentials.password)
  await urlField.fill(source.url('stream1').replace('stream1', 'nowhere'))
  await look()
  await page.getByRole('heading', { name: 'The camera has no stream at this URL' }).waitFor()
  await shoot(page, 'add-camera-problem')
  await checkAccessible(page)
})

test('a common URL of a manufacturer can be tested with one click, and the image is current', async () => {
  const askedMs = Date.now()
  await page.getByRole('button', { name: 'Try the TP-Link' }).click()
  await page.getByRole('heading', { name: 'Camera found' }).waitFor()
  await page.getByText('640 × 360, H.264').waitFor()
  await page.locator('.found-image').waitFor()
  const { code } = (await readClock(page, '.found-image'))!
  // A key frame, of a camera that is late when the machine is busy.
  assert.ok(code.unixMs > askedMs - 15_000 && code.unixMs <= Date.now())
  assert.deepEqual(scene.complaints, [])
  await shoot(page, 'add-camera-found')
  await checkAccessible(page)
})

test('the address of a camera is enough: its stream is found', async () => {
  const { host } = new URL(source.url('stream1'))
  await page.getByLabel('Camera URL').fill(host)
  await look()
  await page.getByRole('heading', { name: 'Camera found' }).waitFor()
  await tabTo(page, 'button', 'Use this camera')
  await page.keyboard.press('Enter')
  await page.getByText(`rtsp://${host}/stream1`).waitFor()
  await page.getByRole('button', { name: 'Back' }).click()
})

test('the second step estimates disk space from the measured bit rate; going back restores the first step', async () => {
  await tabTo(page, 'button', 'Use this camera')
  await page.keyboard.press('Enter')
  const name = page.getByLabel('Name', { exact: true })
  await name.waitFor()
  assert.ok(await name.evaluate((element) => element === element.ownerDocument.activeElement))
  await page.getByText('at the camera’s current bit rate').waitFor()
  await shoot(page, 'add-camera-name')
  await checkAccessible(page)
  await page.getByRole('button', { name: 'Back' }).click()
  assert.equal(await page.getByLabel('Camera URL').inputValue(), new URL(source.url('stream1')).host)
  await page.getByRole('button', { name: 'Use this camera' }).click()
})

test('a lost response and a double click create one camera', async () => {
  await page.getByLabel('Name', { exact: true }).fill('Yard')
  let isLost = false
  await page.route('**/v1/cameras/', async (route) => {
    if (route.request().method() !== 'POST' || isLost) return route.continue()
    isLost = true
    await route.fetch()
    await route.abort('connectionreset')
  })
  await page.getByRole('button', { name: 'Add camera' }).dblclick()
  await page.waitForURL(/\/cameras\/\d+$/)
  assert.ok(isLost)
  assert.deepEqual(await listNames(), ['Yard'])
  const id = /\d+$/.exec(page.url())![0]
  const recording = await scene.server.request<{ retention: string }>(`/v1/cameras/${id}/recording/`)
  assert.equal(recording.json.retention, 'P7D')
  await page.unroute('**/v1/cameras/')
})

test('a camera in the network is discovered, its streams are listed and tested', async () => {
  await using onvif = await openOnvifCamera({
    auth: { kind: 'wsse', ...credentials },
    profiles: [
      { token: 'a', name: 'Panorama', encoding: 'H264', width: 640, height: 360, url: source.url('stream1') },
      { token: 'b', name: 'Broken', encoding: 'H264', width: 320, height: 180, url: undefined },
    ],
    discovery: { scopes: ['onvif://www.onvif.org/name/Heron%20Dome'], isInGroup: true },
  })
  assert.ok(onvif.url)
  await page.goto(`${scene.server.url}/add`)
  await tabTo(page, 'button', 'Search the network')
  await page.keyboard.press('Enter')
  const streams = page.getByRole('button', { name: 'Streams of Heron Dome' })
  await streams.click()
  await page.getByText('Enter the camera username and password above').waitFor()
  await page.getByLabel('Camera username').fill(credentials.username)
  await page.getByLabel('Camera password').fill(credentials.password)
  await streams.click()
  await page.getByRole('button', { name: 'Test Panorama' }).waitFor()
  await checkAccessible(page)
  await page.getByRole('button', { name: 'Test Panorama' }).click()
  await page.getByRole('heading', { name: 'Camera found' }).waitFor()
  await shoot(page, 'add-camera-discovery')
  await page.getByRole('button', { name: 'Use this camera' }).click()
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Heron Dome')
})

test('an offline camera can still be added, on a phone', async () => {
  const storageState = await page.context().storageState()
  const look = { viewport: { width: 360, height: 780 }, colorScheme: 'dark', locale: 'de-DE' } as const
  const phone = await scene.openPage({ storageState, ...look })
  await phone.goto(`${scene.server.url}/`)
  await phone.getByRole('link', { name: 'Kamera hinzufügen' }).click()
  await phone.getByLabel('Kamera-URL').fill('mein Dachboden')
  await phone.keyboard.press('Enter')
  const problem = phone.getByText('Diese URL ist ungültig')
  await problem.getByText('The camera URL cannot be used').waitFor()
  assert.equal(await problem.locator('[lang=en]').count(), 1, 'a screen reader learns that the text is English')
  await checkAccessible(phone)
  await phone.getByLabel('Kamera-URL').fill('rtsp://127.0.0.1:9/attic')
  await phone.keyboard.press('Enter')
  await phone.getByRole('heading', { name: 'Unter dieser Adresse antwortet kein Gerät' }).waitFor()
  await checkAccessible(phone)
  await shoot(phone, 'add-camera-phone')
  await phone.getByRole('button', { name: 'Trotzdem hinzufügen' }).click()
  await phone.keyboard.type('Dachboden')
  await phone.keyboard.press('Enter')
  await phone.waitForURL(/\/cameras\/\d+$/)
  assert.deepEqual(await listNames(), ['Yard', 'Dachboden'])
  await phone.context().close()
})
