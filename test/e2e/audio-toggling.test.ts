// Audio that begins late, stops and restarts: live and recorded in hls.js, and as a download. Long version:
// audio-long.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchAudio } from './audio-player.ts'

test('hls.js keeps playing live and recorded while audio stops, starts, is late or toggles, and a download is complete', async () => {
  const { toggles, loudSeconds, silentSeconds } = await watchAudio({ seconds: 34, toggleSeconds: 8 })
  assert.ok(toggles >= 4 && loudSeconds >= 6 && silentSeconds >= 6, `${toggles}, ${loudSeconds}, ${silentSeconds}`)
})
