// Chromium showing the viewer page: a third-party web application on its own origin.

import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserServer, chromium, type Page } from 'playwright-core'
import { readTimeCode, type TimeCode, timeCodeHeight } from '../fake-camera/time-code.ts'

const files: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  '/': { file: './viewer.html', type: 'text/html; charset=utf-8' },
  '/hls.js': { file: '../../node_modules/hls.js/dist/hls.min.js', type: 'text/javascript' },
}

/**
 * The burned-in clock of the frame an element shows, and the times that hls.js (`window.hls`) reports: `playingMs` for
 * the current playback position, `shownMs` for the frame shown last, which is older on a busy machine.
 */
export type Clock = {
  readonly code: TimeCode
  /** When it was read, by the clock of the page, Unix milliseconds. */
  readonly readMs: number
  /** The position of the player; undefined for images. */
  readonly seconds: number | undefined
  readonly playingMs: number | undefined
  readonly shownMs?: number | undefined
}

export type Viewer = AsyncDisposable & {
  readonly page: Page
  readClock(selector: string): Promise<Clock | undefined>
}

export async function openViewer(urls: { live?: readonly string[]; recorded?: string }): Promise<Viewer> {
  const server = createServer((request, response) => {
    const found = files[request.url!.split('?')[0]!]
    if (!found) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': found.type })
    createReadStream(fileURLToPath(new URL(found.file, import.meta.url))).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const browser = await launchChromium()
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1250, height: 900 } })
  const page = await context.newPage()
  const query = new URLSearchParams()
  for (const url of urls.live ?? []) query.append('live', url)
  if (urls.recorded) query.set('recorded', urls.recorded)
  await page.goto(`http://127.0.0.1:${port}/?${query}`, { waitUntil: 'domcontentloaded' })
  return {
    page,
    readClock: (selector) => readClock(page, selector),
    async [Symbol.asyncDispose]() {
      await browser.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Grabbed = Omit<Clock, 'code'> & { width: number; height: number; top: number; pixels: string }

/** Runs in the page: the pixels of an element from `top` down, where the strip of the clock is, RGBA as base64. */
const grab = `(selector) => {
  const element = document.querySelector(selector)
  const width = element?.videoWidth ?? element?.naturalWidth ?? element?.width
  const height = element?.videoHeight ?? element?.naturalHeight ?? element?.height
  if (!width) return undefined
  const readMs = Date.now()
  const top = Math.floor(height * ${1 - timeCodeHeight})
  const canvas = new OffscreenCanvas(width, height - top)
  const context = canvas.getContext('2d', { willReadFrequently: true })
  context.drawImage(element, 0, -top)
  const { currentTime, shownTime } = element
  const { data } = context.getImageData(0, 0, width, height - top)
  let text = ''
  for (let i = 0; i < data.length; i += 0x8000) text += String.fromCharCode(...data.subarray(i, i + 0x8000))
  // Use the playlist entry at this position: after a seek, hls.js reports the time of the previous entry for a while.
  const dateOf = (seconds) => {
    const entry = window.hls?.levels[0]?.details?.fragments.findLast(({ start }) => start <= seconds)
    return entry && entry.programDateTime + (seconds - entry.start) * 1000
  }
  const dates = { playingMs: dateOf(currentTime), shownMs: dateOf(shownTime) }
  return { width, height, top, readMs, seconds: currentTime, pixels: btoa(text), ...dates }
}`

/** A page of any browser. */
type Evaluator = { evaluate<T>(expression: string): Promise<T> }

/** Reads an `<img>`, `<video>` or `<canvas>` on any page; undefined while it shows nothing that can be read. */
export async function readClock(page: Evaluator, selector: string): Promise<Clock | undefined> {
  const grabbed = await page.evaluate<Grabbed | null | undefined>(`(${grab})(${JSON.stringify(selector)})`)
  if (!grabbed) return undefined
  const { width, height, top, pixels, ...times } = grabbed
  const image = Buffer.alloc(width * height * 4)
  image.write(pixels, top * width * 4, 'base64')
  const code = readTimeCode(image, width, height)
  return code && { code, ...times }
}

/** Longer than audio and video of a file differ, and shorter than anything that is missing. */
const seamSeconds = 1

/**
 * Fails if hls.js had errors that are none of a busy machine and of streams that change. `isLive`: of a player close to the
 * newest frame. Returns all errors.
 */
export async function checkErrors(page: Evaluator, { isLive = false } = {}): Promise<string[]> {
  const reasons = await page.evaluate<string[]>('reasons')
  let nudges = 0
  const isTolerable = (reason: string) => {
    if (/^\w+ \(fatal\)/.test(reason)) return false
    // Requests that a seek has aborted, frames that come late, and playlists, for which it asks again.
    if (/^(aborted|bufferStalledError|levelLoadTimeOut)\b/.test(reason)) return true
    // From a long stall it recovers by a small step, which once is no sign of a hole in the media.
    if (reason.startsWith('bufferNudgeOnStall')) return nudges++ === 0
    // It steps over audio that comes later than its image.
    if (isLive && reason.startsWith('bufferSeekOverHole')) return true
    // Where the tracks change, audio and video do not end together.
    if (reason.startsWith('bufferSeekOverHole: nudging playhead')) return true
    const [, from, to] = /^bufferSeekOverHole: .* from ([\d.]+) to ([\d.]+)/.exec(reason) ?? []
    return Number(to) - Number(from) < seamSeconds
  }
  assert.deepEqual(
    reasons.filter((reason) => !isTolerable(reason)),
    [],
  )
  return page.evaluate<string[]>('errors')
}

/** Chromium without windows: with windows that nobody sees it takes more than twice the CPU time. */
const options = {
  executablePath: '/usr/bin/chromium-headless-shell',
  args: [
    ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
    ...['--disable-background-networking', '--disable-component-update', '--autoplay-policy=no-user-gesture-required'],
  ],
}

/** Starts a browser that all test processes share, because starting one takes longer than many a test. */
export async function shareChromium(): Promise<BrowserServer> {
  const browser = await chromium.launchServer(options)
  process.env.NIGHTJAR_TEST_CHROMIUM = browser.wsEndpoint()
  return browser
}

/** For a test that needs switches of the whole browser, or starts it by a program of its own. */
export async function launchOwnChromium(
  switches: readonly string[],
  executablePath = options.executablePath,
): Promise<Browser> {
  return makePatient(await chromium.launch({ executablePath, args: [...options.args, ...switches] }))
}

/** A connection to the shared browser, or a browser of its own without one. Its contexts are its own and end with it. */
export async function launchChromium(): Promise<Browser> {
  const shared = process.env.NIGHTJAR_TEST_CHROMIUM
  return makePatient(shared === undefined ? await chromium.launch(options) : await chromium.connect(shared))
}

/** Limits of a page end a test that hangs. On a busy machine, a page has taken twenty times as long as usual. */
function makePatient(browser: Browser): Browser {
  browser.on('context', (context) => context.setDefaultTimeout(120_000))
  return browser
}
