// A quirk passes if all frames arrive intact and in one run, unless its script says otherwise.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packetQuirks } from '../../../test/fixtures/cameras/packet-quirks.ts'
import { protocolQuirks } from '../../../test/fixtures/cameras/protocol-quirks.ts'
import { sent } from '../../../test/fixtures/cameras/quirk.ts'
import { sessionQuirks } from '../../../test/fixtures/cameras/session-quirks.ts'
import { openScriptedCamera } from '../../../test/support/ingest/scripted-camera.ts'
import { HastyClock, timesOf, watchCamera } from '../../../test/support/ingest/watch-camera.ts'

const quirks = [...sessionQuirks, ...packetQuirks, ...protocolQuirks]

for (const { camera, symptom, script, account, haste, responseMs, frames = sent - 1, ...expected } of quirks) {
  const { deviations = [], check } = expected
  test(`${camera}: ${symptom}`, async () => {
    await using server = await openScriptedCamera(typeof script === 'function' ? script() : script)
    const watched = await watchCamera(
      { url: server.url, ...account },
      (items) => timesOf(items, 'video').length >= frames,
      haste ? { clock: new HastyClock(haste), ...(responseMs !== undefined && { limits: { responseMs } }) } : {},
    )
    assert.ok(timesOf(watched.items, 'video').length >= frames, JSON.stringify(watched.last))
    assert.equal(watched.stats.droppedFrames, 0)
    assert.deepEqual([...watched.stats.deviations], deviations)
    check?.(watched, server.requests)
    if (!check) assert.deepEqual([watched.stats.connections, watched.stats.runs], [1, 1])
  })
}
