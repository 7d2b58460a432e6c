// The session is one whose line is described by the test, so that no other process can make an answer late.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { lineIsFree } from './line-delay.ts'

const signal = new AbortController().signal
const chunkBytes = 16 * 1024

/** `answerMs`: how long the answer to a ping takes that has so many bytes before it. */
function openLine(answerMs: (bytesBefore: number) => number) {
  let bytes = 0
  let pings = 0
  const session = {
    destroyed: false,
    ping(onAnswer: (error: Error | null, durationMs: number) => void) {
      const ms = answerMs(bytes)
      bytes = 0
      pings++
      setImmediate(() => onAnswer(session.destroyed ? new Error('cancelled') : null, ms))
      return true
    },
  }
  const response = { stream: { session } } as unknown as ServerResponse
  return {
    session,
    /** Returns how many pings it took. */
    async send(megabytes: number): Promise<number> {
      const before = pings
      for (let rest = megabytes * 1e6; rest > 0; rest -= chunkBytes) {
        await lineIsFree(response, chunkBytes, signal)
        bytes += chunkBytes
      }
      return pings - before
    },
  }
}

test('a line that becomes longer carries as much as before', async () => {
  let lineMs = 5
  const line = openLine(() => lineMs)
  await line.send(4)
  lineMs = 400
  await line.send(1)
  assert.ok((await line.send(16)) < 20, 'it is taken for a slow one')
})

test('a line on which answers wait behind data has no more than a moment of data under way', async () => {
  const line = openLine((bytes) => 5 + bytes / 120)
  await line.send(1)
  const pings = await line.send(8)
  assert.ok(pings > 80, `${pings} pings: it is taken for a long one`)
})

test('a session that ends while its line is measured does not fail', async () => {
  const line = openLine((bytes) => {
    assert.ok(!line.session.destroyed, 'Node throws')
    // The first ping of the measurement.
    if (pings++ === 2) line.session.destroyed = true
    return 5 + bytes / 120
  })
  let pings = 0
  await line.send(1)
  assert.equal(pings, 3)
})
