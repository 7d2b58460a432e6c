// Changing and deleting a camera in the dashboard.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Camera } from '../../contract/camera.ts'
import type { Recording } from '../../contract/recording.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere } from '../server-under-test.ts'
import { checkAccessible, type DashboardScene, openDashboard, shoot, tabTo } from './dashboard-scene.ts'

let scene: DashboardScene
let source: FakeCamera
let page: Page
let id: number

before(async () => {
  const credentials = { username: 'viewer', password: 'sesame' }
  source = await openFakeCamera({
    streams: [{ name: 'yard', scene: 'yard', width: 640, height: 360 }],
    auth: { scheme: 'digest-md5', ...credentials },
  })
  scene = await openDashboard(openServerHere)
  const { server } = scene
  const body = { name: 'Yard', url: source.url('yard'), ...credentials }
  id = (await server.request<Camera>('/v1/cameras/', { method: 'POST', body })).json.id
  page = await scene.openPage()
  await scene.signIn(page, `/cameras/${id}/settings`)
})

after(async () => {
  await scene[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

const getCamera = async () => (await scene.server.request<Camera>(`/v1/cameras/${id}/`)).json
const findRecording = async () => {
  const answer = await scene.server.request<Recording>(`/v1/cameras/${id}/recording/`)
  return answer.status === 200 ? answer.json : undefined
}
const panel = (title: string) => page.locator('.panel', { has: page.getByRole('heading', { name: title }) })

test('the form shows the URL without the password, which is kept when other fields change', async () => {
  const form = panel('Camera')
  assert.equal(await form.getByLabel('Camera URL').inputValue(), source.url('yard'))
  assert.equal(await form.getByLabel('Camera username').inputValue(), 'viewer')
  assert.equal(await form.getByLabel('Camera password').inputValue(), '')
  assert.ok(!(await page.content()).includes('sesame'))
  await form.getByText('A password is saved.').waitFor()
  await form.getByLabel('Name', { exact: true }).fill('Front yard')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Saved.', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'Front yard settings' }).waitFor()
  await eventually(
    'the camera reconnects with its password',
    30_000,
    async () => (await getCamera()).status === 'online',
  )
  await shoot(page, 'camera-settings')
})

test('stream statistics are shown in both languages', async () => {
  await scene.server.request(`/v1/cameras/${id}/recording/`, { method: 'POST', body: { retention: 'P1D' } })
  const reception = panel('Reception')
  await reception.getByText(/^\d[\d.]* Mbit\/s$/).waitFor()
  await reception.getByText(/^\d[\d.]* fps$/).waitFor()
  source.faults.spoilPackets('lose', 3000, () => 0)
  await reception
    .getByText(/^[1-9]\d* in total$/)
    .first()
    .waitFor()
  await reception.scrollIntoViewIfNeeded()
  await shoot(page, 'camera-reception')
  await checkAccessible(page)
  const storageState = await page.context().storageState()
  const german = await scene.openPage({ locale: 'de-DE', storageState })
  await german.goto(page.url())
  await german.getByRole('heading', { name: 'Empfang' }).waitFor()
  await german.getByText('Verlorene Bilder').waitFor()
  await german.context().close()
  await scene.server.request(`/v1/cameras/${id}/recording/`, { method: 'DELETE' })
})

test('a wrong password is reported beside the form, and the right one fixes it', async () => {
  const form = panel('Camera')
  await form.getByLabel('Camera password').fill('open')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.locator('.camera-state').getByText('Offline').waitFor()
  assert.match((await page.locator('.camera-state .hint').textContent())!, /password|refused/i)
  await form.getByLabel('Camera password').fill('sesame')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.locator('.camera-state').getByText('Online').waitFor()
})

test('an invalid URL is reported at its field', async () => {
  const form = panel('Camera')
  const urlField = form.getByLabel('Camera URL')
  await urlField.fill('yard')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('The camera URL cannot be used').waitFor()
  assert.equal(await urlField.getAttribute('aria-invalid'), 'true')
  await urlField.fill(source.url('yard').replace('127.0.0.1', 'localhost'))
  await form.getByText('Enter the password again to use it there').waitFor()
  await urlField.fill(source.url('yard'))
})

test('recording can be turned on, limited and turned off by keyboard, and shows the space it needs', async () => {
  const form = panel('Recording')
  await tabTo(page, 'checkbox', 'Record continuously')
  await page.keyboard.press('Space')
  await form.getByText('of disk space at 2 Mbit/s').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Tab')
  await page.keyboard.type('1')
  await form.getByText('recordings are kept for about').waitFor()
  await page.keyboard.press('Enter')
  await form.getByText('Saved.', { exact: true }).waitFor()
  const { retention, max_bytes } = (await findRecording())!
  assert.deepEqual([retention, max_bytes], ['P3D', 1e9])
  await eventually('there is footage', 30_000, async () => (await findRecording())?.recording_start)
  await page.reload()
  await form.getByLabel('Record continuously').uncheck()
  await form.getByText('Existing recordings stay').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Saved.', { exact: true }).waitFor()
  assert.equal(await findRecording(), undefined)
})

test('axe finds no violations on a laptop and on a phone', async () => {
  await checkAccessible(page)
  await page.setViewportSize({ width: 360, height: 780 })
  await checkAccessible(page)
  await shoot(page, 'camera-settings-phone')
  await page.setViewportSize({ width: 1280, height: 860 })
})

test('deleting a camera asks for confirmation, says what will be deleted, and can be canceled', async () => {
  await page.getByRole('button', { name: 'Remove' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove Front yard?' })
  await dialog.getByText('recordings').waitFor()
  await checkAccessible(page)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  assert.equal((await getCamera()).name, 'Front yard')
  await page.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.waitForURL(`${scene.server.url}/`)
  await page.getByText('No cameras yet').waitFor()
  assert.equal((await scene.server.request(`/v1/cameras/${id}/`)).status, 404)
  assert.deepEqual(scene.complaints, [])
})
