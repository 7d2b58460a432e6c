// The camera page in a real browser: finding, playing and saving a moment, and what it shows when something fails.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Recording } from '../../contract/recording.ts'
import { type FakeCamera, openFakeCamera } from '../fake-camera/fake-camera.ts'
import { type ClockClip, recordClock } from '../playback/clock-footage.ts'
import { eventually, openServer, type ServerProcess } from '../server-under-test.ts'
import { readClock } from './browser.ts'
import { checkAccessible, type DashboardScene, openDashboard, shoot, tabTo } from './dashboard-scene.ts'
import { probe } from './media-probe.ts'

const groupMs = 1_000

let scene: DashboardScene<ServerProcess>
let source: FakeCamera
let page: Page
let id: number
let reportedMs: number

before(async () => {
  source = await openFakeCamera({
    streams: [{ name: 'yard', width: 640, height: 360, framesPerSecond: 25, gopFrames: 25, hasAudio: true }],
  })
  scene = await openDashboard(openServer)
  const { server } = scene
  const body = { name: 'Yard', url: source.url('yard') }
  id = (await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })).json.id
  await server.request(`/v1/cameras/${id}/recording/`, { method: 'POST', body: { retention: 'P1D' } })
  page = await scene.openPage()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await scene.signIn(page, `/cameras/${id}`)
})

after(async () => {
  await scene[Symbol.asyncDispose]()
  await source[Symbol.asyncDispose]()
})

const button = (name: string) => page.getByRole('button', { name, exact: true })
const timeline = () => page.getByRole('slider', { name: 'Timeline' })
const shownMs = async () => Date.parse((await page.locator('.controls-time time').getAttribute('datetime'))!)
const askedMs = () => Date.parse(new URL(page.url()).searchParams.get('at') ?? '')
const readFrame = () => readClock(page, '.stage video')

async function report(title: string, occurredAtMs: number) {
  const body = { camera: id, title, category: 'door', occurred_at: new Date(occurredAtMs).toISOString() }
  await scene.server.request('/v1/events/', { method: 'POST', body })
}

test('live playback is current and its displayed time matches the frame', async () => {
  const openedMs = Date.now()
  await eventually('a live frame of now is shown', 30_000, async () => {
    const frame = await readFrame()
    return frame && frame.code.unixMs > openedMs
  })
  await eventually('the time beside it is that of the frame', 20_000, async () => {
    const [frame, displayedMs] = [await readFrame(), await shownMs()]
    return frame && Math.abs(frame.code.unixMs - displayedMs) < 2_500
  })
  await page.getByText('Live', { exact: true }).waitFor()
  await eventually('there is footage of some seconds before the event', 20_000, async () => {
    const { json } = await scene.server.request<Recording>(`/v1/cameras/${id}/recording/`)
    return Date.parse(json.recording_start ?? '') < Date.now() - 8_000
  })
  reportedMs = Date.now()
  await report('Front door opened', reportedMs)
})

test('a slow network is reported, and playback continues when it recovers', async () => {
  const stream = /\/media\/cameras\/.*\/live\.mp4/
  await page.route(stream, () => {})
  await page.reload()
  await page.getByText('The connection is slow or interrupted').waitFor()
  await shoot(page, 'camera-slow')
  await page.unroute(stream)
  await page.getByText('The connection is slow or interrupted').waitFor({ state: 'detached' })
})

test('an event marker on the timeline can be reached, read and played by keyboard', async () => {
  const mark = page.getByRole('toolbar', { name: 'Events on the timeline' }).getByRole('button')
  await mark.waitFor()
  assert.match(String(await mark.getAttribute('aria-label')), /Front door opened/)
  await mark.focus()
  await page.locator('.event-caption').getByText('Front door opened').waitFor()
  await eventually('something is recorded after it', 30_000, async () => Date.now() - reportedMs > 10_000)
  await shoot(page, 'camera-event')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\?at=/)
  const eventMs = askedMs()
  assert.equal(eventMs, Math.floor(reportedMs / 1000) * 1000)
  const startedMs = Date.now()
  // Until then, the page shows what it played before.
  await eventually('the event is played', 30_000, async () => {
    const frame = await readFrame()
    const laterMs = frame ? frame.code.unixMs - eventMs : Number.NaN
    return laterMs > -groupMs && laterMs < groupMs + (Date.now() - startedMs)
  })
})

test('a click on the timeline plays that moment, accurate to a group of pictures', async () => {
  for (let presses = 0; presses < 12; presses++) await button('Zoom in').click()
  const box = (await timeline().boundingBox())!
  const [cursorMs, cursorX] = [await shownMs(), Number(await page.locator('.timeline-cursor').getAttribute('x1'))]
  // The view is one minute, at the cursor's time of day: soon after midnight it is at the left edge.
  const bySeconds = cursorX < box.width / 2 ? 4 : -4
  await page.mouse.click(box.x + cursorX + (bySeconds / 60) * box.width, box.y + box.height / 2)
  const clickedMs = Date.now()
  const isNear = () => Math.abs(askedMs() - (cursorMs + bySeconds * 1000)) < 2_500
  await eventually('another moment is requested', 10_000, async () => isNear())
  await eventually('it is played', 30_000, async () => {
    const frame = await readFrame()
    const laterMs = frame ? frame.code.unixMs - askedMs() : Number.NaN
    return laterMs > -groupMs && laterMs < groupMs + (Date.now() - clickedMs)
  })
})

test('by keyboard: pause, seek, mark a range and download it; the file contains the range', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-download-'))
  await page.locator('main').focus()
  await page.keyboard.press('Space')
  await button('Play').waitFor()
  const beforeMs = askedMs()
  await page.keyboard.press('ArrowLeft')
  await eventually('it went back', 10_000, async () => askedMs() < beforeMs)
  // Paused playback stays paused and shows the frame at the new position.
  const still = await eventually('the paused frame is that of the moment', 30_000, async () => {
    const frame = await readFrame()
    return frame && Math.abs(frame.code.unixMs - (await shownMs())) < groupMs && frame
  })
  await page.keyboard.press('i')
  await page.getByText('Go to the end of the range').waitFor()
  const startMs = await shownMs()
  await page.keyboard.press('ArrowRight')
  await eventually('it went on', 30_000, async () => {
    const frame = await readFrame()
    return frame && frame.code.unixMs > still.code.unixMs + 5_000
  })
  await page.keyboard.press('o')
  await page.getByText('Download as MP4').waitFor()
  const lengthMs = (await shownMs()) - startMs
  const saving = page.waitForEvent('download')
  await page.keyboard.press('Shift+D')
  const saved = await saving
  assert.match(saved.suggestedFilename(), /^Yard \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.mp4$/)
  await page.getByText(/^Downloading .* MB\)/).waitFor()
  await shoot(page, 'camera-range')
  const file = join(folder, 'range.mp4')
  await saved.saveAs(file)
  const { video, complaints } = await probe(file)
  assert.equal(complaints, '')
  const frames = video!.packets.length
  // It begins at the key frame before the marked range and ends with the marked second.
  assert.ok(
    frames >= (lengthMs / 1000) * 25 - 25 && frames <= (lengthMs / 1000 + 3) * 25,
    `${frames} of ${lengthMs} ms`,
  )
  await page.keyboard.press('x')
  await page.getByText('Download as MP4').waitFor({ state: 'detached' })
  await rm(folder, { recursive: true })
})

test('by keyboard: speed, whole day, save image, and the help that can disable shortcuts', async () => {
  await page.keyboard.press('n')
  await page.waitForURL((url) => !url.search.includes('at='))
  await page.keyboard.press('Shift+E')
  await eventually('the event plays', 30_000, async () => askedMs() === Math.floor(reportedMs / 1000) * 1000)
  await page.keyboard.press('Space')
  await button('Play').waitFor()
  await page.keyboard.press('l')
  await button('Pause').waitFor()
  // At double speed it must not catch up with the live edge.
  await eventually('there is enough to hurry through', 30_000, async () => Date.now() - reportedMs > 18_000)
  await page.keyboard.press('l')
  assert.equal(await page.getByLabel('Speed').inputValue(), '2')
  // Played by the video element itself, so every frame is shown.
  await page.waitForFunction(`document.querySelector('.stage video').playbackRate === 2`)
  const hastened = page.waitForResponse((response) => response.url().includes('/speed/'))
  await page.keyboard.press('l')
  await page.keyboard.press('l')
  assert.equal(await page.getByLabel('Speed').inputValue(), '8')
  assert.equal((await hastened).status(), 204)
  let last: number | undefined
  await eventually('key frames alone are shown', 30_000, async () => {
    const frame = (await readFrame())?.code.frameNumber
    const before = last
    last = frame ?? last
    return before !== undefined && frame !== undefined && frame > before && (frame - before) % 25 === 0
  })
  for (const _ of [4, 2, 1]) await page.keyboard.press('j')
  assert.equal(await page.getByLabel('Speed').inputValue(), '1')
  await page.keyboard.press('d')
  const hours = async () =>
    (Number(await timeline().getAttribute('aria-valuemax')) - Number(await timeline().getAttribute('aria-valuemin'))) /
    3600
  await eventually(
    'more is shown than the minute',
    5_000,
    async () => (await page.locator('.timeline-label').count()) > 5 && (await hours()) > 0,
  )
  await eventually('every frame is shown again', 30_000, readFrame)
  const saving = page.waitForEvent('download')
  await page.keyboard.press('s')
  assert.match((await saving).suggestedFilename(), /^Yard .*\.jpg$/)
  await page.getByText('Saved as').waitFor()
  await page.keyboard.press('f')
  await button('Exit full screen').waitFor()
  assert.equal(await page.evaluate('document.fullscreenElement.className'), 'stage')
  await page.keyboard.press('f')
  await button('Full screen').waitFor()
  await page.keyboard.press('m')
  await button('Turn audio off').waitFor()
  assert.equal(await page.evaluate(`document.querySelector('.stage video').muted`), false)
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('Go to date and time').waitFor()
  await checkAccessible(page)
  await shoot(page, 'camera-keys')
  await tabTo(page, 'checkbox', 'Use keyboard shortcuts')
  await page.keyboard.press('Space')
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await button('Keyboard shortcuts').click()
  await help.getByLabel('Use keyboard shortcuts').check()
  await button('Close').click()
  assert.equal(await page.getByRole('dialog').count(), 0)
})

test('a date and time lead to the moment, also when the clocks change', async () => {
  await page.keyboard.press('g')
  const dialog = page.getByRole('dialog', { name: 'Go to date and time' })
  const field = dialog.getByLabel('Date and time')
  await field.fill('2025-10-26T02:30:00')
  await dialog.getByText('Second occurrence (UTC+1)').waitFor()
  await field.fill('2025-03-30T02:30:00')
  await dialog.getByText('skipped this time. You will go to 3:30:00 AM').waitFor()
  await checkAccessible(page)
  await dialog.getByRole('button', { name: 'Go', exact: true }).click()
  await dialog.getByText('Recordings begin on').waitFor()
  const wantedMs = Math.floor((Date.now() - 10_000) / 1000) * 1000
  await field.fill(new Date(wantedMs).toLocaleString('sv-SE', { timeZone: 'Europe/Berlin' }).replace(' ', 'T'))
  await page.keyboard.press('Enter')
  await eventually('it goes there', 10_000, async () => askedMs() === wantedMs)
  // The day on which clocks went back, from midnight to midnight.
  await page.goto(`${scene.server.url}/cameras/${id}?at=2025-10-26T11:00:00Z`)
  await page.getByRole('heading', { name: 'Sun, Oct 26, 2025' }).waitFor()
  const [from, to] = await Promise.all(['min', 'max'].map((end) => timeline().getAttribute(`aria-value${end}`)))
  assert.equal(Number(to) - Number(from), 25 * 3600)
  // Where there is no footage, the page says so and offers alternatives.
  await page.getByText('Nothing was recorded during this time.').waitFor()
  await page.getByText('There is no footage').or(page.locator('.stage video')).first().waitFor()
})

test('gaps and events can be read in a list and played from it', async () => {
  await page.goto(`${scene.server.url}/cameras/${id}`)
  await page.getByText(/and 1 event in this time/).click()
  const row = page.getByRole('row', { name: /Front door opened/ })
  await shoot(page, 'camera-list')
  await row.getByRole('button').click()
  await page.waitForURL(/\?at=/)
  await button('Copy link to this moment').click()
  await page.getByText('Link copied.').waitFor()
  assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /\/cameras\/\d+\?at=[\dT:-]+Z$/)
  await button('Back to live').click()
  await page.waitForURL((url) => !url.search.includes('at='))
})

test('axe finds no violations in both themes, on a laptop and on a phone, with everything open', async () => {
  const state = await page.context().storageState()
  for (const [width, locale] of [
    [1280, 'en-US'],
    [360, 'de-DE'],
  ] as const) {
    const height = width > 800 ? 860 : 780
    const visitor = await scene.openPage({ storageState: state, locale, viewport: { width, height } })
    const atMs = Math.floor((Date.now() - 12_000) / 1000) * 1000
    await visitor.goto(`${scene.server.url}/cameras/${id}?at=${new Date(atMs).toISOString()}`)
    await eventually('it plays', 30_000, () => readClock(visitor, '.stage video'))
    await visitor.locator('.event-mark').first().waitFor()
    await visitor.locator('main').focus()
    await visitor.keyboard.press('o')
    await visitor.keyboard.press('ArrowLeft')
    await visitor.keyboard.press('i')
    await visitor.locator('summary').click()
    for (const colorScheme of ['light', 'dark'] as const) {
      await visitor.emulateMedia({ colorScheme })
      await checkAccessible(visitor)
      await visitor.evaluate('scrollTo(0, 0)')
      await shoot(visitor, `camera-page-${colorScheme}-${width}`)
      await visitor.evaluate('scrollTo(0, 700)')
      await shoot(visitor, `camera-page-${colorScheme}-${width}-below`)
    }
    await visitor.context().close()
  }
})

test('an offline camera says why, its recordings still play, and it returns by itself', async () => {
  source.faults.answerWith(503)
  source.faults.dropConnections()
  await page.getByText('Offline. This image is from').waitFor()
  await page.getByRole('alert').waitFor()
  await shoot(page, 'camera-offline')
  await page.keyboard.press('ArrowLeft')
  await page.waitForURL(/\?at=/)
  source.faults.answerWith(undefined)
  await page.keyboard.press('n')
  await page.getByText('Offline. This image is from').waitFor({ state: 'detached' })
  await eventually('it is live again', 30_000, async () => {
    const frame = await readFrame()
    return frame && frame.code.unixMs > Date.now() - 15_000
  })
})

test('an unreachable server is reported, and live playback resumes when it is back', async () => {
  await scene.server.kill()
  await page.getByText('The server cannot be reached').waitFor()
  await shoot(page, 'camera-server-away')
  const awayMs = Date.now()
  await scene.server.start()
  await page.getByText('The server cannot be reached').waitFor({ state: 'detached' })
  await eventually('the frame moves again', 60_000, async () => {
    const frame = await readFrame()
    return frame && frame.code.unixMs > awayMs
  })
  assert.deepEqual(
    scene.complaints.filter((complaint) => !/ERR_CONNECTION/.test(complaint)),
    [],
  )
})

test('footage that the browser cannot play is passed over between footage that it can', async () => {
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 3_600_000
  // Debian's Chromium does not play H.265.
  const clips: ClockClip[] = [
    { startMs, seconds: 8 },
    { startMs: startMs + 30_000, seconds: 8, codec: 'h265' },
    { startMs: startMs + 60_000, seconds: 8 },
  ]
  const clock = await recordClock(scene.server, clips)
  await page.goto(`${scene.server.url}/cameras/${clock}?at=${new Date(startMs + 2000).toISOString()}`)
  await eventually('the footage before', 30_000, async () => ((await readFrame())?.code.unixMs ?? 0) > startMs)
  await eventually('the footage behind', 60_000, async () => ((await readFrame())?.code.unixMs ?? 0) > startMs + 60_000)
  await page.goto(`${scene.server.url}/cameras/${clock}?at=${new Date(startMs + 32_000).toISOString()}`)
  await page.getByText(/cannot play/).waitFor()
})
