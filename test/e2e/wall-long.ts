// Shows sixteen cameras of 1280 × 720, 25 frames/s and 2 Mbit/s on the wall for ten minutes, and prints each half minute
// what the tiles show, how late one of them is by the clock in its image, and what the browser, its page and the server
// hold in memory. Too long for `npm test`: node_modules/.bin/node test/e2e/wall-long.ts [--minutes 10]

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readMemoryBytes } from '../../bench/process-usage.ts'
import { percentile } from '../../bench/statistics.ts'
import { ensureTestPackages } from '../../scripts/test-packages.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer } from '../server-under-test.ts'
import { readClock, shareChromium } from './browser.ts'
import { openDashboard } from './dashboard-scene.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const sixteen = Array.from({ length: 16 }, (_, i) => ({
  name: `c${String(i).padStart(2, '0')}`,
  ...{ width: 1280, height: 720, framesPerSecond: 25, gopFrames: 50, bitsPerSecond: 2_000_000 },
  // One has a clock in its image.
  ...(i > 0 && { loopSeconds: 20, title: 'wall', scene: 'yard' as const }),
}))

type Tile = { readonly name: string; readonly isVideo: boolean; readonly frames: number; readonly dropped: number }
const readTiles = `[...document.querySelectorAll('.tile')].map((tile) => {
  const video = tile.querySelector('video')
  const quality = video?.getVideoPlaybackQuality()
  return { name: tile.textContent.match(/c\\d\\d/)?.[0], isVideo: !!video, frames: quality?.totalVideoFrames ?? 0, dropped: quality?.droppedVideoFrames ?? 0 }
})`

await using source = await openFakeCamera({ streams: sixteen })
ensureTestPackages(['chromium-headless-shell', 'fonts-dejavu-core'])
const browser = await shareChromium()
await using scene = await openDashboard(openServer)
const { server } = scene
for (const { name } of sixteen) await server.addCamera(name, source.url(name))
const page = await scene.openPage({ hasVideo: true, viewport: { width: 1280, height: 1600 } })
await scene.signIn(page)
await eventually('sixteen moving tiles', 60_000, async () => {
  const tiles = await page.evaluate<Tile[]>(readTiles)
  return tiles.length === 16 && tiles.every(({ frames }) => frames > 25)
})
const clockTile = page.locator('.tile:has-text("c00") video')
const devTools = await page.context().newCDPSession(page)
await devTools.send('Performance.enable')
const read = async () => ({ atMs: performance.now(), tiles: await page.evaluate<Tile[]>(readTiles) })

let before = await read()
const endMs = before.atMs + Number(values.minutes) * 60_000
while (performance.now() < endMs) {
  const ages: number[] = []
  for (let i = 0; i < 100; i++) {
    await clockTile.evaluate((video) => video.setAttribute('data-bench', '')).catch(() => {})
    const clock = await readClock(page, '[data-bench]')
    if (clock) ages.push(clock.readMs - clock.code.unixMs)
    await sleep(300)
  }
  const now = await read()
  const seconds = (now.atMs - before.atMs) / 1000
  const rates = now.tiles.map(({ name, frames, dropped }) => {
    const earlier = before.tiles.find((tile) => tile.name === name)
    return earlier ? (frames - dropped - earlier.frames + earlier.dropped) / seconds : 0
  })
  const { metrics } = await devTools.send('Performance.getMetrics')
  const heapBytes = metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value
  const megabytes = (bytes: number) => Math.round(bytes / 1e6)
  console.log(
    JSON.stringify({
      videos: now.tiles.filter(({ isVideo }) => isVideo).length,
      leastFramesPerSecond: Number(Math.min(...rates).toFixed(1)),
      mostFramesPerSecond: Number(Math.max(...rates).toFixed(1)),
      ageP50Ms: Math.round(percentile(ages, 50)),
      ageP95Ms: Math.round(percentile(ages, 95)),
      ages: ages.length,
      pageHeapMB: megabytes(heapBytes),
      browserMB: megabytes(await readMemoryBytes([browser.process().pid!])),
      serverMB: megabytes(await readMemoryBytes([server.pid])),
    }),
  )
  before = now
}
await browser.close()
