// The camera page shows the present: how far it is behind, what it does when it is interrupted, and what it says when
// it cannot. The limits are those of a busy machine; `bench -- live` measures.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServerHere, type ServerUnderTest } from '../server-under-test.ts'
import { readClock } from './browser.ts'
import { type DashboardScene, openDashboard, shoot } from './dashboard-scene.ts'

let scene: DashboardScene<ServerUnderTest>
let source: FakeCamera
let page: Page
const ids = new Map<string, number>()

before(async () => {
  const video = { width: 640, height: 360, framesPerSecond: 25, hasAudio: true } as const
  source = await openFakeCamera({
    streams: [
      { ...video, name: 'ten', gopFrames: 250 },
      { ...video, name: 'slow', framesPerSecond: 5, gopFrames: 50, hasAudio: false },
      { ...video, name: 'hevc', gopFrames: 25, hasAudio: false, codec: 'h265', scene: 'yard' },
    ],
  })
  scene = await openDashboard(openServerHere)
  for (const name of ['ten', 'slow', 'hevc']) {
    ids.set(name, await scene.server.addCamera(name, source.url(name), '--record', 'P1D'))
  }
  page = await scene.openPage()
  await scene.signIn(page, '/')
})

after(async () => {
  await scene[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

const open = async (name: string) => {
  const path = `/cameras/${ids.get(name)}`
  await eventually('it is online', 20_000, async () => {
    const { json } = await scene.server.request<{ status: string }>(`/v1${path}/`)
    return json.status === 'online'
  })
  await page.goto(scene.server.url + path)
}
const readFrame = () => readClock(page, '.stage video').catch(() => undefined)
const readAge = async () => {
  const frame = await readFrame()
  return frame && Date.now() - frame.code.unixMs
}
/** A page that is behind stays behind, so one fresh frame shows that it is not. */
const isLive = (withinMs: number, maxAgeMs = 600) =>
  eventually('it is live', withinMs, async () => {
    const age = await readAge()
    return age !== undefined && age < maxAgeMs
  })
/** Of the element: what a page that was rebuilt would lose. */
const mark = () => page.evaluate("document.querySelector('.stage video').marked = true")
const isMarked = () => page.evaluate<boolean>("document.querySelector('.stage video').marked === true")
const chooseTransport = (label: string) => page.getByLabel('Transfer').selectOption({ label })

test('the image is live within moments, however far apart the key frames are, and stays so', async () => {
  for (const name of ['ten', 'slow']) {
    await open(name)
    await isLive(10_000)
    await sleep(3000)
    await isLive(5000)
  }
})

test('no audio is sent until it is turned on, and then it is heard with the image', async () => {
  const requests: string[] = []
  page.on('request', (request) => /live\.mp4/.test(request.url()) && requests.push(new URL(request.url()).search))
  await open('ten')
  await isLive(10_000)
  const readAudio = () => page.evaluate<number>("document.querySelector('.stage video').webkitAudioDecodedByteCount")
  assert.equal(await readAudio(), 0)
  await page.getByRole('button', { name: 'Turn audio on' }).click()
  await eventually('there is audio', 10_000, async () => (await readAudio()) > 0)
  // With audio, small delays are caught up slowly enough not to be heard.
  await isLive(10_000, 1000)
  assert.match(requests[0]!, /tracks=video$/)
  assert.match(requests.at(-1)!, /tracks=video%2Caudio$/)
  // The camera is silent for a while, which must not stop the image.
  for (const isMuted of [true, false]) {
    source.faults.muteAudio(isMuted, 'ten')
    await sleep(3000)
    await isLive(10_000, 1000)
  }
  await page.getByRole('button', { name: 'Turn audio off' }).click()
})

test('after an interruption it is live again, and the last image stays meanwhile', async () => {
  await open('ten')
  await isLive(10_000)
  await mark()
  source.faults.dropConnections('ten')
  await isLive(20_000)
  source.faults.stall(4000, 'ten')
  await sleep(4000)
  await isLive(10_000)
  assert.ok(await isMarked(), 'the element was replaced')
})

test('a hidden page receives nothing, and is live when it is shown again', async () => {
  await open('ten')
  await isLive(10_000)
  const countViewers = async () => {
    const { text } = await scene.server.request('/metrics', { authorization: null })
    return Number(/^nightjar_viewers_mp4 (\d+)/m.exec(text)?.[1])
  }
  assert.equal(await countViewers(), 1)
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    `)
  await setHidden(true)
  await eventually('nobody watches', 5000, async () => (await countViewers()) === 0)
  await sleep(3000)
  await setHidden(false)
  await isLive(10_000)
})

test('the transport can be chosen, the choice stays, and the page says how late it is', async () => {
  await open('ten')
  await chooseTransport('HLS')
  await page.getByText(/Live, \d+ s behind/).waitFor({ timeout: 40_000 })
  await shoot(page, 'camera-behind')
  await page.reload()
  await page.getByText(/Live, \d+ s behind/).waitFor({ timeout: 40_000 })
  await chooseTransport('Single images')
  await page.locator('.stage img').waitFor()
  await chooseTransport('Automatic')
  await isLive(15_000)
})

test('what the browser cannot play is shown in another way, with the reason', async () => {
  await open('hevc')
  await page.getByText('This browser cannot play the video of this camera directly.').waitFor({ timeout: 40_000 })
  await page.getByText('It is shown as single images.').waitFor({ timeout: 40_000 })
  await shoot(page, 'camera-fallback')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('It is shown as single images.').waitFor({ timeout: 40_000 })
  assert.deepEqual(scene.complaints, [])
})
