// A camera passes when its pictures come, whole and in one run, unless its row says otherwise.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openScriptedCamera } from '../rtsp/scripted-camera.ts'
import { hastyClock, timesOf, watchCamera } from '../session/watch-camera.ts'
import { packetQuirks } from './packet-quirks.ts'
import { protocolQuirks } from './protocol-quirks.ts'
import { sent } from './quirk.ts'
import { sessionQuirks } from './session-quirks.ts'

const quirks = [...sessionQuirks, ...packetQuirks, ...protocolQuirks]

for (const { camera, symptom, script, account, isHasty, pictures = sent - 1, check } of quirks) {
  test(`${camera}: ${symptom}`, async () => {
    await using server = await openScriptedCamera(typeof script === 'function' ? script() : script)
    const watched = await watchCamera(
      { url: server.url, ...account },
      (items) => timesOf(items, 'video').length >= pictures,
      isHasty ? { clock: hastyClock } : {},
    )
    assert.ok(timesOf(watched.items, 'video').length >= pictures, JSON.stringify(watched.last))
    assert.equal(watched.stats.droppedFrames, 0)
    check?.(watched, server.requests)
    if (!check) assert.deepEqual([watched.stats.connections, watched.stats.runs], [1, 1])
  })
}
