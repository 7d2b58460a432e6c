import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FromWorker } from './cameras/worker-protocol.ts'
import { WorkerOutbox } from './worker-outbox.ts'

const fragment = { offset: 0, bytes: 1, start90k: 0, duration90k: 1, startMs: 0, durationMs: 1, isKey: true }
const written = (path: string): FromWorker => ({ type: 'fragment_written', cameraId: 1, path, fragment })
const closed = (path: string): FromWorker => ({ type: 'segment_closed', cameraId: 1, path, checksum: 0, indexBytes: 0 })

test('fragment messages are sent together, and the order of messages is kept', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: string[] = []
  const nameOf = (message: FromWorker) => ('path' in message ? message.path : message.type)
  const outbox = new WorkerOutbox((messages) => sent.push(messages.map(nameOf).join(' ')))
  outbox.post(written('a'))
  t.mock.timers.tick(50)
  outbox.post(written('b'))
  assert.deepEqual(sent, [])
  t.mock.timers.tick(50)
  assert.deepEqual(sent, ['a b'])
  outbox.post(written('c'))
  outbox.post(closed('d'))
  outbox.post(closed('e'))
  assert.deepEqual(sent.splice(0), ['a b', 'c d', 'e'])
  t.mock.timers.tick(1000)
  assert.deepEqual(sent, [])
})
