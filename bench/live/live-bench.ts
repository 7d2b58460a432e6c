// How late a browser shows a camera: by the clock in the image, for each way in which the dashboard can show it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Camera } from '../../contract/camera.ts'
import { openViewer, readClock } from '../../test/e2e/browser.ts'
import { openDashboard } from '../../test/e2e/dashboard-scene.ts'
import { openFakeCamera } from '../../test/fake-camera/fake-camera.ts'
import { eventually, openServer, type ServerProcess } from '../../test/server-under-test.ts'
import type { Bench } from '../bench.ts'
import { readCpuMs, readMemoryBytes } from '../process-usage.ts'
import { describeMachine, type Report, writeNumber } from '../report.ts'
import { percentile } from '../statistics.ts'

const defaultSeconds = 60
const clicks = 15
const viewerCounts = [1, 10, 50]
const viewerSeconds = 10
/** Players settle first. */
const settleMs = 4_000
const sampleMs = 100

const cameras = {
  two: { groupS: 2, hasAudio: true },
  ten: { groupS: 10, hasAudio: true },
  mute: { groupS: 2, hasAudio: false },
} as const
const transports = { mse: 'Direct', hls: 'HLS', images: 'Single images' } as const

export const liveBench: Bench = {
  name: 'live',
  summary: 'how late a browser shows a camera, and what viewers cost',
  help: `npm run bench -- live [options]

  --seconds N  how long each way of showing is watched  [${defaultSeconds}]
  --json       prints one JSON object and nothing else`,
  defaults: { seconds: defaultSeconds },
  async run({ seconds, say }) {
    const video = { width: 640, height: 360, framesPerSecond: 25 } as const
    await using source = await openFakeCamera({
      streams: Object.entries(cameras).map(([name, { groupS, hasAudio }]) => ({
        ...{ ...video, name, hasAudio, gopFrames: groupS * 25 },
      })),
    })
    await using scene = await openDashboard(openServer)
    const { server } = scene
    const ids = new Map<string, number>()
    for (const name of Object.keys(cameras)) {
      ids.set(name, await server.addCamera(name, source.url(name), '--record', 'P1D'))
    }
    await eventually('footage', 60_000, async () => {
      const { json } = await server.request<{ results: Camera[] }>('/v1/cameras/')
      return json.results.every(({ status, snapshot }) => status === 'online' && snapshot)
    })
    const page = await scene.openPage({ hasVideo: true })
    await scene.signIn(page)
    const lateness: Lateness[] = []
    for (const [name, id] of ids) {
      for (const [key, label] of Object.entries(transports)) {
        say(`camera ${name}, ${label} …`)
        await page.goto(`${server.url}/cameras/${id}`)
        await page.getByLabel('Transfer').selectOption({ label })
        const ages = await watch(page, key === 'images' ? '.stage img' : '.stage video', seconds)
        lateness.push({ what: `camera page, ${label}`, key, name, ages })
      }
      await page.getByLabel('Transfer').selectOption({ label: 'Automatic' })
    }
    say('wall …')
    await page.goto(`${server.url}/`)
    for (const name of ids.keys()) {
      const tile = `.tile:has-text("${name}") video`
      await page.locator(tile).evaluate((video, mark) => video.setAttribute('data-bench', mark), name)
      const ages = await watch(page, `[data-bench="${name}"]`, seconds)
      lateness.push({ what: 'wall', key: 'wall', name, ages })
    }
    say('hls.js with its defaults …')
    const { json: two } = await server.request<Camera>(`/v1/cameras/${ids.get('two')!}/`)
    const own = two.streams.find(({ format }) => format === 'hls')!.url
    lateness.push({
      what: 'hls.js with its defaults',
      key: 'player',
      name: 'two',
      ages: await watchPlayer(own, seconds),
    })
    say('hls.js with its defaults, HLS by FFmpeg …')
    {
      await using foreign = await openFfmpegHls(source.url('two'))
      const ages = await watchPlayer(foreign.url, seconds)
      lateness.push({ what: 'hls.js with its defaults, HLS by FFmpeg', key: 'ffmpeg', name: 'two', ages })
    }
    say('clicks …')
    const starts = await click(page, server.url)
    const costs: Cost[] = []
    for (const count of viewerCounts) {
      say(`${count} viewers …`)
      costs.push(await measureViewers(server, ids.get('two')!, count))
    }
    return createReport({ lateness, starts, costs, seconds })
  },
}

type Lateness = {
  readonly what: string
  readonly key: string
  readonly name: string
  readonly ages: readonly number[]
}
type Start = { readonly imageMs: number; readonly motionMs: number }
type Cost = { readonly viewers: number; readonly cpuPercent: number; readonly megabytes: number }

/** How old the image is, ten times a second, in milliseconds. */
async function watch(page: Page, selector: string, seconds: number): Promise<number[]> {
  await eventually('an image', 60_000, () => readClock(page, selector).catch(() => undefined))
  await sleep(settleMs)
  const ages: number[] = []
  const endMs = performance.now() + seconds * 1000
  while (performance.now() < endMs) {
    const clock = await readClock(page, selector)
    if (clock) ages.push(clock.readMs - clock.code.unixMs)
    await sleep(sampleMs)
  }
  return ages
}

/** What a page of somebody else's shows of an HLS stream. */
async function watchPlayer(url: string, seconds: number): Promise<number[]> {
  await using viewer = await openViewer({ recorded: url })
  return await watch(viewer.page, 'video', seconds)
}

/** HLS of a camera with segments of two seconds, as FFmpeg makes it without encoding, from an HTTP server. */
async function openFfmpegHls(camera: string): Promise<AsyncDisposable & { readonly url: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-bench-hls-'))
  const list = join(folder, 'live.m3u8')
  const output = ['-c', 'copy', '-f', 'hls', '-hls_time', '2', '-hls_list_size', '6', '-hls_flags', 'delete_segments']
  const input = ['-nostdin', '-loglevel', 'error', '-rtsp_transport', 'tcp', '-i', camera]
  const ffmpeg = spawn('ffmpeg', [...input, ...output, list], { stdio: ['ignore', 'ignore', 'inherit'] })
  const server = http.createServer(async (request, response) => {
    const file = await readFile(join(folder, basename(request.url!))).catch(() => undefined)
    response.writeHead(file ? 200 : 404, { 'access-control-allow-origin': '*' }).end(file)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  await eventually('a playlist of FFmpeg', 30_000, () => readFile(list, 'utf8').catch(() => undefined))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/live.m3u8`,
    async [Symbol.asyncDispose]() {
      ffmpeg.kill('SIGKILL')
      if (ffmpeg.exitCode === null && ffmpeg.signalCode === null) await once(ffmpeg, 'exit')
      server.closeAllConnections()
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** From the click on a tile to any image of the camera, and to the second frame that is displayed. */
async function click(page: Page, url: string): Promise<Start[]> {
  const starts: Start[] = []
  for (let i = 0; i < clicks; i++) {
    await page.goto(`${url}/`)
    await page.locator('.tile video').first().waitFor()
    // At another moment of the group of pictures each time.
    await sleep(3000 + i * 370)
    starts.push(
      await page.evaluate<Start>(`new Promise((resolve) => {
        const startMs = performance.now()
        let imageMs
        document.querySelectorAll('.tile-link')[${i % 2}].click()
        const look = () => {
          const video = document.querySelector('.stage video')
          if (!video) return requestAnimationFrame(look)
          const poster = new Image()
          poster.src = video.poster
          poster.decode().then(() => { imageMs ??= performance.now() - startMs }, () => {})
          let first
          const note = (nowMs, { mediaTime }) => {
            imageMs ??= nowMs - startMs
            if (first !== undefined && mediaTime !== first) return resolve({ imageMs, motionMs: nowMs - startMs })
            first ??= mediaTime
            video.requestVideoFrameCallback(note)
          }
          video.requestVideoFrameCallback(note)
        }
        look()
      })`),
    )
  }
  return starts
}

/** Viewers of one camera over one HTTP/2 connection each, as pages are, that read everything and show nothing. */
async function measureViewers(server: ServerProcess, id: number, count: number): Promise<Cost> {
  const { json } = await server.request<Camera>(`/v1/cameras/${id}/`)
  const { origin, pathname, search } = new URL(json.streams.find(({ format }) => format === 'mp4')!.url)
  const [idleCpuMs, idleBytes] = [await measureCpu(server), await readMemoryBytes([server.pid])]
  const sessions = Array.from({ length: count }, () => {
    const session = http2.connect(origin, { rejectUnauthorized: false })
    session.request({ ':path': `${pathname}${search}&tracks=video` }).resume()
    return session
  })
  await sleep(3000)
  const [cpuMs, bytes] = [await measureCpu(server), await readMemoryBytes([server.pid])]
  for (const session of sessions) session.destroy()
  const cpuPercent = ((cpuMs - idleCpuMs) / (viewerSeconds * 1000) / count) * 100
  return { viewers: count, cpuPercent, megabytes: (bytes - idleBytes) / count / 1e6 }
}

async function measureCpu({ pid }: ServerProcess): Promise<number> {
  const before = await readCpuMs([pid])
  await sleep(viewerSeconds * 1000)
  return (await readCpuMs([pid])) - before
}

type Found = {
  readonly lateness: readonly Lateness[]
  readonly starts: readonly Start[]
  readonly costs: readonly Cost[]
  readonly seconds: number
}

function createReport({ lateness, starts, costs, seconds }: Found): Report {
  const p95 = (wanted: string, maxGroupS = 10) =>
    Math.max(
      ...lateness
        .filter(({ key, name }) => key === wanted && cameras[name as keyof typeof cameras].groupS <= maxGroupS)
        .map(({ ages }) => percentile(ages, 95)),
    )
  const start = (name: keyof Start, percent: number) => percentile(starts.map((each) => each[name]), percent) // biome-ignore format: one line
  const cpuPerViewer = costs.at(-1)!.cpuPercent
  const ms = (value: number) => writeNumber(Math.round(value))
  const target = (key: string, title: string, value: number, limit: number) => ({ key, title, value, limit, kind: 'at most' as const }) // biome-ignore format: one line
  return {
    name: 'live',
    title: 'Live in a browser',
    setting: [
      `Chromium without a screen and without hardware decoding, 640 × 360, 25 frames/s, server, cameras and browser on one machine. The age of the image ` +
        `is read from the clock in it, ten times a second for ${seconds} s, from ${settleMs / 1000} s after the first image on; it includes the delay of the camera.`,
      `Measured on ${describeMachine()}.`,
    ],
    tables: [
      {
        head: ['shown as', 'key frames apart, s', 'audio', 'age p50, ms', 'p95', 'samples'],
        rows: lateness.map(({ what, name, ages }) => [
          what,
          String(cameras[name as keyof typeof cameras].groupS),
          cameras[name as keyof typeof cameras].hasAudio ? 'yes' : 'no',
          ms(percentile(ages, 50)),
          ms(percentile(ages, 95)),
          String(ages.length),
        ]),
      },
      {
        head: [`after a click on a tile (${starts.length} of them)`, 'p50, ms', 'p95, ms'],
        rows: [
          ['any image', ms(start('imageMs', 50)), ms(start('imageMs', 95))],
          ['moving image', ms(start('motionMs', 50)), ms(start('motionMs', 95))],
        ],
      },
      {
        head: ['viewers of one camera', 'CPU of the server for each, % of a core', 'memory for each, MB'],
        rows: costs.map(({ viewers, cpuPercent, megabytes }) => [
          String(viewers),
          writeNumber(cpuPercent),
          writeNumber(megabytes),
        ]),
      },
    ],
    targets: [
      target('mseP95Ms', 'camera page, Media Source, p95, ms', p95('mse'), 300),
      target('llhlsP95Ms', 'camera page, low-latency HLS, key frames 2 s apart, p95, ms', p95('hls', 2), 1500),
      target('wallP95Ms', 'wall, p95, ms', p95('wall'), 300),
      target('firstImageP95Ms', 'any image after a click, p95, ms', start('imageMs', 95), 300),
      target('firstMotionP95Ms', 'moving image after a click, p95, ms', start('motionMs', 95), 300),
      target(
        'cpuPerViewerPercent',
        `CPU of the server per viewer, ${costs.at(-1)!.viewers} viewers, %`,
        cpuPerViewer,
        0.5,
      ),
    ],
    notes: [],
    details: { seconds, hlsP95Ms: Math.round(p95('hls')), imagesP95Ms: Math.round(p95('images')) },
  }
}
