import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { Clock } from '../../base/clock.ts'
import { silentLogger } from '../../base/log.ts'
import { OpenStreams } from './open-streams.ts'

test('access that could not be checked is checked again soon', async () => {
  const store = { accessVersion: 1 }
  const time = { ms: 0 }
  const looks: number[] = []
  const ended = new AbortController()
  const clock: Clock = {
    nowMs: () => time.ms,
    monotonicMs: () => time.ms,
    async sleep(ms) {
      time.ms += ms
      if (time.ms > 20_000) ended.abort()
    },
  }
  const streams = new OpenStreams({ store, clock, log: silentLogger })
  const response = Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse
  const signal = streams.add(response, 'viewer', async () => {
    looks.push(time.ms)
    if (looks.length <= 2) throw new Error('the database does not answer')
    return false
  })
  const running = streams.run(ended.signal)
  store.accessVersion++
  await running
  assert.ok(signal.aborted)
  assert.deepEqual(looks.slice(0, 3), [400, 800, 1200])
})
