// Ten minutes of a camera whose audio stops and restarts every 20 s, live and recorded in hls.js, and as a download.
// Too long for `npm test`: node_modules/.bin/node test/e2e/audio-long.ts [--seconds 600] [--toggle 20]

import { parseArgs } from 'node:util'
import { watchAudio } from './audio-player.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, toggle: { type: 'string', default: '20' } },
})
console.log(JSON.stringify(await watchAudio({ seconds: Number(values.seconds), toggleSeconds: Number(values.toggle) })))
