// The wall: thirty cameras in one tab, search, owned and shared cameras, an unreachable server, and an expired session.

import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer, type ServerProcess } from '../server-under-test.ts'
import { readClock } from './browser.ts'
import { checkAccessible, type DashboardScene, openDashboard, shoot, tabTo } from './dashboard-scene.ts'

const una = { email: 'una@example.com', password: 'a heron in the reeds' }
const tileCount = 30

let scene: DashboardScene<ServerProcess>
let source: FakeCamera
let page: Page

before(async () => {
  source = await openFakeCamera({
    streams: ['a', 'b', 'c'].map((name) => ({ name, width: 320, height: 180, framesPerSecond: 5, gopFrames: 5 })),
  })
  scene = await openDashboard(openServer)
  const { server } = scene
  for (let index = 1; index < tileCount; index++) {
    const body = { name: `Camera ${index}`, url: source.url('abc'[index % 3]!) }
    const { status } = await server.request('/v1/cameras/', { method: 'POST', body })
    assert.equal(status, 201)
  }
  const person = ['--email', una.email, '--password', una.password, '--first-name', 'Una', '--last-name', 'Urban']
  await server.command('user', 'add', ...person)
  const { token } = await server.command<{ token: string }>('token', 'create', '--user', una.email)
  const authorization = `PersonalAccessToken ${token}`
  const body = { name: 'Reeds', url: source.url('a') }
  const { json } = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body, authorization })
  const guest = { method: 'POST', body: { email: 'owner@example.com' }, authorization }
  assert.equal((await server.request(`/v1/cameras/${json.id}/guests/`, guest)).status, 201)
  // Tall enough for all of them.
  page = await scene.openPage({ hasVideo: true, viewport: { width: 1900, height: 2400 } })
  await scene.signIn(page)
})

after(async () => {
  await scene[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

const tiles = () => page.locator('.tile')

/** Waits until the burned-in clock of each tile is later than `than` and returns the clocks. */
async function readLaterClocks(than: ReadonlyMap<number, number>): Promise<ReadonlyMap<number, number>> {
  const found = new Map<number, number>()
  const deadlineMs = performance.now() + 180_000
  while (found.size < tileCount) {
    for (let index = 0; index < tileCount; index++) {
      if (found.has(index)) continue
      const clock = await readClock(page, `[data-tile="${index}"] video`)
      if (clock && clock.code.unixMs > (than.get(index) ?? 0)) found.set(index, clock.code.unixMs)
    }
    const missing = Array.from({ length: tileCount }, (_, index) => index).filter((index) => !found.has(index))
    assert.ok(performance.now() < deadlineMs, `tiles ${missing} do not move`)
  }
  return found
}

async function numberTiles(): Promise<void> {
  await page.evaluate(`document.querySelectorAll('.tile').forEach((tile, index) => { tile.dataset.tile = index })`)
}

async function countStreams(): Promise<number> {
  const { text } = await scene.server.request('/metrics', { authorization: null })
  return Number(/^nightjar_open_streams (\d+)$/m.exec(text)![1])
}

test('thirty tiles move at the same time in one tab', async () => {
  await page.getByRole('link', { name: 'Reeds' }).waitFor()
  assert.equal(await tiles().count(), tileCount)
  await numberTiles()
  const first = await readLaterClocks(new Map())
  await readLaterClocks(await readLaterClocks(first))
  assert.equal(await countStreams(), tileCount)
  await page.setViewportSize({ width: 1280, height: 860 })
  await shoot(page, 'wall')
})

test('images out of view are not sent', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await eventually('only tiles in sight are sent', 15_000, async () => (await countStreams()) < tileCount / 2)
  await shoot(page, 'wall-phone')
  const other = await page.context().newPage()
  await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
  await eventually('nothing is sent to a hidden tab', 15_000, async () => (await countStreams()) === 0)
  await page.evaluate(`delete document.hidden
    document.dispatchEvent(new Event('visibilitychange'))`)
  await eventually('It will update', 15_000, async () => (await countStreams()) > 0)
  await other.close()
  await page.setViewportSize({ width: 1280, height: 860 })
})

test('a tile says whether its camera is being recorded at the moment', async () => {
  const { server } = scene
  const tile = tiles().filter({ has: page.getByText('Camera 1', { exact: true }) })
  const { json } = await server.request<{ results: { id: number; name: string }[] }>('/v1/cameras/')
  const { id } = json.results.find(({ name }) => name === 'Camera 1')!
  assert.equal(await page.getByText('Recording', { exact: true }).count(), 0)
  const path = `/v1/cameras/${id}/recording/`
  assert.equal((await server.request(path, { method: 'POST', body: { retention: 'P7D' } })).status, 201)
  await tile.getByText('Recording', { exact: true }).waitFor()
  const archive = join(server.dataDir, 'archive')
  await rename(archive, `${archive}-away`)
  await tile.getByText('Recording failed').waitFor()
  await shoot(page, 'wall-recording-failed')
  await rename(`${archive}-away`, archive)
  await tile.getByText('Recording', { exact: true }).waitFor()
  await server.request(path, { method: 'DELETE' })
})

test('owned and shared cameras are listed separately and can be found by name', async () => {
  const own = page.getByRole('region', { name: 'Your cameras' })
  const shared = page.getByRole('region', { name: 'Shared with you' })
  assert.equal(await own.getByRole('listitem').count(), tileCount - 1)
  await shared.getByText('shared by Una').waitFor()
  await tabTo(page, 'searchbox', 'Search')
  await page.keyboard.type('reeds')
  await own.waitFor({ state: 'detached' })
  assert.equal(await tiles().count(), 1)
  await page.keyboard.type('xyz')
  await page.getByText('No results for “reedsxyz”').waitFor()
  await checkAccessible(page)
  await page.getByRole('searchbox').fill('')
  await own.waitFor()
})

test('an unreachable server is reported, and images move again when it is back', async () => {
  await eventually('the newest frame is shown', 30_000, () => readClock(page, '.tile video'))
  await scene.server.kill()
  await page.getByText('The server cannot be reached').waitFor()
  await shoot(page, 'wall-away')
  await checkAccessible(page)
  assert.equal(await tiles().count(), tileCount, 'what was there stays')
  assert.equal(await page.locator('.tile-caption').getByText('No connection to the server').count(), tileCount)
  assert.ok(await readClock(page, '.tile video'), 'the last frame is still to be seen')
  await scene.server.start()
  await page.getByText('The server cannot be reached').waitFor({ state: 'detached' })
  await numberTiles()
  const backMs = Date.now()
  await eventually('a tile moves', 60_000, async () => {
    const clock = await readClock(page, '[data-tile="0"] video')
    return clock !== undefined && clock.code.unixMs > backMs
  })
})

test('signing in after a session ended returns to the same page', async () => {
  await page.goto(`${scene.server.url}/settings/look`)
  await page.getByLabel('Theme').waitFor()
  await scene.server.command('session', 'revoke', 'owner@example.com')
  // Without leaving the page: its next request is refused.
  await page.getByRole('link', { name: 'Storage' }).click()
  await page.waitForURL(/sign-in/)
  await page.getByLabel('Email address').fill('owner@example.com')
  await page.getByLabel('Password').fill('correct horse')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${scene.server.url}/settings/storage`)
  await page.getByRole('heading', { name: 'Your recordings' }).waitFor()
  assert.deepEqual(
    scene.complaints.filter((complaint) => !/ERR_CONNECTION/.test(complaint)),
    [],
  )
})
