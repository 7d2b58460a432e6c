// The camera page shows the present: how far it is behind, what it does when it is interrupted, and what it says when
// it cannot. The limits are those of a busy machine; `bench -- live` measures.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer, ownerEmail, type ServerProcess } from '../server-under-test.ts'
import { launchOwnChromium, readClock } from './browser.ts'
import { type DashboardScene, openDashboard, shoot } from './dashboard-scene.ts'
import { type Firefox, hasFirefox, launchFirefox } from './firefox.ts'
import { hasWebKit, launchWebKit } from './webkit.ts'

let scene: DashboardScene<ServerProcess>
let source: FakeCamera
let page: Page
const ids = new Map<string, number>()
/** Of the newest frame that a camera has sent: its clock. */
const newestMs = new Map<string, number>()
/** Key frames are ten seconds apart, and the newest segments of HLS are four seconds old. */
const maxBehindMs = 2_000
/** From here on, people notice that audio and image are apart (ITU-R BT.1359). */
const maxAudioLateMs = 40

before(async () => {
  const video = { width: 640, height: 360, framesPerSecond: 25, hasAudio: true } as const
  source = await openFakeCamera({
    streams: [
      { ...video, name: 'ten', gopFrames: 250 },
      { ...video, name: 'slow', framesPerSecond: 5, gopFrames: 50, hasAudio: false },
      { name: 'hevc', codec: 'h265', loopSeconds: 4, width: 320, height: 180, framesPerSecond: 10 },
    ],
    onSent: (name, { unixMs }) => newestMs.set(name, unixMs),
  })
  scene = await openDashboard(openServer)
  for (const name of ['ten', 'slow', 'hevc']) {
    ids.set(name, await scene.server.addCamera(name, source.url(name), '--record', 'P1D'))
  }
  page = await scene.openPage({ hasVideo: true })
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
/**
 * Compared with what the camera has sent, because on a busy machine the camera itself is late. A page that is behind
 * stays behind, so one fresh frame shows that it is not.
 */
const isLive = (name = 'ten') => {
  const afterMs = newestMs.get(name) ?? 0
  return eventually('it is live', 30_000, async () => {
    const sentMs = newestMs.get(name)
    const shownMs = (await readFrame())?.code.unixMs
    return sentMs !== undefined && shownMs !== undefined && shownMs > afterMs && sentMs - shownMs < maxBehindMs
  })
}
/**
 * Listens to the camera, which beeps at each full second. Returns how much later than the image of that moment each of
 * `count` beeps is heard, in milliseconds.
 */
async function measureBeeps(count: number): Promise<number[]> {
  const mediaSeconds = await page.evaluate<number>(`new Promise((resolve) => {
    const video = document.querySelector('.stage video')
    video.requestVideoFrameCallback((_, { mediaTime }) => {
      const canvas = Object.assign(document.createElement('canvas'), { width: video.videoWidth, height: video.videoHeight, id: 'seen', hidden: true })
      canvas.getContext('2d').drawImage(video, 0, 0)
      document.querySelector('#seen')?.remove()
      document.body.append(canvas)
      resolve(mediaTime)
    })
  })`)
  const unixMs = (await readClock(page, '#seen'))!.code.unixMs
  // Compared with the time that the element plays, because on a busy machine its images themselves are shown late.
  const played = await page.evaluate<number[]>(`new Promise((resolve) => {
    const video = document.querySelector('.stage video')
    // An element has one source for as long as it exists.
    video.source ??= new AudioContext().createMediaElementSource(video)
    const { context } = video.source
    const tap = context.createScriptProcessor(256, 1, 1)
    video.source.disconnect()
    video.source.connect(tap).connect(context.destination)
    // The element knows nothing of what the context itself takes to be heard, so what counts is when it takes the audio.
    const bufferedSeconds = 2 * 256 / context.sampleRate
    const found = []
    let lastLoud = context.currentTime
    let contextMs = Infinity
    tap.onaudioprocess = ({ inputBuffer, playbackTime }) => {
      const nowMs = performance.now()
      contextMs = Math.min(contextMs, nowMs - context.currentTime * 1000)
      for (const [i, sample] of inputBuffer.getChannelData(0).entries()) {
        if (Math.abs(sample) < 0.01) continue
        const seconds = playbackTime - bufferedSeconds + i / context.sampleRate
        const agoMs = nowMs - contextMs - seconds * 1000
        if (seconds - lastLoud > 0.4) found.push(video.currentTime * 1000 - agoMs * video.playbackRate)
        lastLoud = seconds
      }
      if (found.length < ${count}) return
      tap.onaudioprocess = null
      resolve(found)
    }
  })`)
  return played.map((ms) => {
    const imageMs = unixMs - mediaSeconds * 1000 + ms
    return imageMs - Math.round(imageMs / 1000) * 1000
  })
}
const findMedian = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!

/** Of the element: what a page that was rebuilt would lose. */
const mark = () => page.evaluate("document.querySelector('.stage video').marked = true")
const isMarked = () => page.evaluate<boolean>("document.querySelector('.stage video').marked === true")
const chooseTransport = (label: string) => page.getByLabel('Transfer').selectOption({ label })

test('the image is live within moments, however far apart the key frames are, and stays so', async () => {
  for (const name of ['ten', 'slow']) {
    await open(name)
    await isLive(name)
    await sleep(3000)
    await isLive(name)
  }
})

test('no audio is sent until it is turned on, and then it is heard with the image', async () => {
  const requests: string[] = []
  page.on('request', (request) => /live\.mp4/.test(request.url()) && requests.push(new URL(request.url()).search))
  await open('ten')
  await isLive()
  const readAudio = () => page.evaluate<number>("document.querySelector('.stage video').webkitAudioDecodedByteCount")
  assert.equal(await readAudio(), 0)
  await page.getByRole('button', { name: 'Turn audio on' }).click()
  await eventually('there is audio', 10_000, async () => (await readAudio()) > 0)
  await isLive()
  assert.match(requests[0]!, /tracks=video$/)
  assert.match(requests.at(-1)!, /tracks=video%2Caudio$/)
  // What is wrong in the stream stays the same. What a busy machine shows or hears later does not.
  const medians: number[] = []
  const describe = () => `the audio is late by ${medians} ms`
  await eventually(describe, 60_000, async () => {
    const lateMs = Math.round(findMedian(await measureBeeps(6)))
    medians.push(lateMs)
    const isTogether = Math.abs(lateMs) <= maxAudioLateMs
    const last = medians.slice(-5)
    const isSteady = last.length === 5 && Math.max(...last) - Math.min(...last) <= maxAudioLateMs
    assert.ok(isTogether || !isSteady, describe())
    return isTogether
  })
  // The camera is silent for a while, which must not stop the image.
  for (const isMuted of [true, false]) {
    source.faults.muteAudio(isMuted, 'ten')
    await sleep(3000)
    await isLive()
  }
  await page.getByRole('button', { name: 'Turn audio off' }).click()
})

test('after an interruption it is live again, and the last image stays meanwhile', async () => {
  await open('ten')
  await isLive()
  await mark()
  source.faults.dropConnections('ten')
  await isLive()
  source.faults.stall(4000, 'ten')
  await sleep(4000)
  await isLive()
  assert.ok(await isMarked(), 'the element was replaced')
})

test('a hidden page receives nothing, and is live when it is shown again', async () => {
  await open('ten')
  await isLive()
  const countViewers = async () => {
    const { text } = await scene.server.request('/metrics', { authorization: null })
    return Number(/^nightjar_viewers_mp4 (\d+)/m.exec(text)?.[1])
  }
  await eventually('one viewer is counted', 10_000, async () => (await countViewers()) === 1)
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    `)
  await setHidden(true)
  await eventually('nobody watches', 5000, async () => (await countViewers()) === 0)
  await sleep(3000)
  await setHidden(false)
  await isLive()
})

const others: readonly { readonly name: string; readonly skip: string | false; launch(): Promise<Firefox> }[] = [
  {
    name: 'Firefox',
    skip: !hasFirefox() && 'Firefox is not installed: apt-get install firefox-esr',
    launch: () => launchFirefox({ hasJavaScript: true }),
  },
  {
    name: 'WebKit',
    skip: !hasWebKit() && 'WebKit is not installed: apt-get install webkit2gtk-driver xvfb',
    launch: launchWebKit,
  },
]
/** Signs in, opens the camera, and waits until it is live. */
async function openLive(browser: Firefox): Promise<void> {
  await openCamera(browser)
  await isLiveIn(browser)
}
async function openCamera(browser: Firefox): Promise<void> {
  await browser.open(`${scene.server.url}/cameras/${ids.get('ten')}`)
  await eventually('the sign-in page', 30_000, () => browser.evaluate(`document.querySelector('#email') !== null`))
  await browser.type('#email', ownerEmail)
  await browser.type('#password', 'correct horse')
  await browser.click('main button')
}
/** In one step: the element that is shown first is soon replaced. */
async function readMain(browser: Firefox): Promise<string> {
  return browser.evaluate<string>(`document.querySelector('main')?.innerText ?? ''`)
}
async function isLiveIn(browser: Firefox): Promise<void> {
  let says = ''
  await eventually(
    () => `it is live; the page says ${says}`,
    60_000,
    async () => {
      const frame = await readClock(browser, '.stage video').catch(() => undefined)
      says = await readMain(browser)
      return frame && newestMs.get('ten')! - frame.code.unixMs < maxBehindMs
    },
  )
}

for (const { name, skip, launch } of others) {
  test(`${name} shows the present too`, { skip }, async () => {
    await using browser = await launch()
    await openLive(browser)
  })
}

test('a browser whose decoder stands still before it has shown anything is tried again after a while', {
  skip: others[0]!.skip,
}, async () => {
  await using browser = await launchFirefox({ hasJavaScript: true })
  await openCamera(browser)
  await eventually('a decoder', 30_000, async () => browser.signalDecoders('SIGSTOP'))
  await eventually('another way', 20_000, async () => /did not begin .* is shown as HLS/.test(await readMain(browser)))
  browser.signalDecoders('SIGCONT')
  await isLiveIn(browser)
})

test('a browser whose decoder stands still for seconds, twice, still plays what it could play before', {
  skip: others[0]!.skip,
}, async () => {
  await using browser = await launchFirefox({ hasJavaScript: true })
  await openLive(browser)
  for (let i = 0; i < 2; i++) {
    assert.ok(browser.signalDecoders('SIGSTOP'))
    await sleep(4000)
    browser.signalDecoders('SIGCONT')
    await isLiveIn(browser)
  }
  assert.doesNotMatch(await readMain(browser), /Try again/)
})

test('the transport can be chosen, the choice stays, and the page says how late it is', async () => {
  await open('ten')
  await chooseTransport('HLS')
  await page.getByText(/Live, \d+ s behind/).waitFor()
  await shoot(page, 'camera-behind')
  await page.reload()
  await page.getByText(/Live, \d+ s behind/).waitFor()
  await chooseTransport('Single images')
  await page.locator('.stage img').waitFor()
  await chooseTransport('Automatic')
  await isLive()
})

test('what the browser cannot play is shown in another way, with the reason', async () => {
  await open('hevc')
  await page.getByText('This browser cannot play the video of this camera directly.').waitFor()
  await page.getByText('It is shown as single images.').waitFor()
  await shoot(page, 'camera-fallback')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('It is shown as single images.').waitFor()
  await page.goto(`${scene.server.url}/`)
  const tile = (name: string) => page.locator('.tile').filter({ hasText: name })
  await tile('hevc').locator('img[src*="live.mjpeg"]').waitFor()
  await eventually('the others are videos', 20_000, () => readClock(page, '.tile video'))
  assert.equal(await page.locator('.tile video').count(), 2)
  assert.deepEqual(scene.complaints, [])
})

test('a browser with few connections shows few videos, and the rest of the dashboard still loads', async () => {
  for (const name of ['fourth', 'fifth', 'sixth', 'seventh']) {
    ids.set(name, await scene.server.addCamera(name, source.url('slow')))
  }
  await using opened = new AsyncDisposableStack()
  const browser = opened.adopt(await launchOwnChromium(['--disable-http2']), (each) => each.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 1600 } })
  const old = await context.newPage()
  await scene.signIn(old, '/')
  await old.getByText('This browser has few connections').waitFor()
  await eventually(
    'the others show images',
    40_000,
    async () => (await old.locator('.tile img[src*="live"]').count()) >= 4,
  )
  assert.ok((await old.locator('.tile video').count()) <= 3)
  await shoot(old, 'wall-few-connections')
  await old.getByRole('link', { name: 'Settings' }).click()
  await old.getByRole('heading', { name: 'Settings' }).waitFor()
})
