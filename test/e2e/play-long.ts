// Plays twenty minutes of recordings at 4x speed in hls.js, over three gaps and a change of resolution, then seeks
// fifty times; the burned-in clock must always be right. Too long for `npm test`: node_modules/.bin/node
// test/e2e/play-long.ts [--minutes 20] [--jumps 50]

import { parseArgs } from 'node:util'
import { recordClock } from '../playback/clock-footage.ts'
import { openServer } from '../server-under-test.ts'
import { jumpAround, playAtFour } from './clock-player.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '20' }, jumps: { type: 'string', default: '50' } },
})
const seconds = Number(values.minutes) * 60
const startMs = Math.floor(Date.now() / 1000) * 1000 - 12 * 3_600_000
const clips = Array.from({ length: 4 }, (_, i) => ({
  startMs: startMs + i * (seconds + 300) * 1000,
  seconds,
  ...(i >= 2 && { width: 480, height: 270 }),
}))
await using server = await openServer()
console.log(`Recording ${(4 * seconds) / 60} minutes …`)
const scene = { server, cameraId: await recordClock(server, clips), clips }
console.log(`Playing ${values.minutes} minutes at four times the speed …`)
const begunMs = performance.now()
const played = await playAtFour(scene)
console.log(JSON.stringify({ minutes: (performance.now() - begunMs) / 60_000, ...played }))
console.log(`${values.jumps} jumps …`)
console.log(JSON.stringify(await jumpAround(scene, Number(values.jumps))))
