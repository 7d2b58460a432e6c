import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RefusalBackoff } from './refusal-backoff.ts'

function open() {
  let nowMs = 1000
  const patience = new RefusalBackoff(() => nowMs)
  const connection = {}
  return {
    patience,
    connection,
    advance: (ms: number) => {
      nowMs += ms
    },
    note: (times: number, status: number) => {
      for (let i = 0; i < times; i++) patience.note(connection, status)
    },
  }
}

test('a client that is refused occasionally does not wait', () => {
  const { patience, connection, note } = open()
  assert.equal(patience.takeMs(connection), 0)
  for (let i = 0; i < 1000; i++) {
    note(2, 404)
    note(1, 200)
    assert.equal(patience.takeMs(connection), 0)
  }
  note(100, 429)
  assert.equal(patience.takeMs(connection), 0)
})

test('beyond that one request after the other waits, other connections do not, and what would wait too long is not kept', () => {
  const { patience, connection, advance, note } = open()
  note(101, 429)
  assert.deepEqual(
    [1, 2, 3].map(() => patience.takeMs(connection)),
    [0, 250, 500],
  )
  assert.equal(patience.takeMs({}), 0)
  note(100, 401)
  for (let wait = 750; wait <= 10_000; wait += 1000) assert.equal(patience.takeMs(connection), wait)
  assert.equal(patience.takeMs(connection), undefined)
  advance(10_000)
  assert.equal(patience.takeMs(connection), 750)
})

test('time and successful responses reduce the count; server errors are not counted', () => {
  const { patience, connection, advance, note } = open()
  note(1000, 503)
  assert.equal(patience.takeMs(connection), 0)
  note(1000, 429)
  patience.takeMs(connection)
  assert.equal(patience.takeMs(connection), 1000)
  advance(71_000)
  for (let i = 0; i < 3; i++) assert.equal(patience.takeMs(connection), 0)
  note(1000, 429)
  note(35, 200)
  assert.equal(patience.takeMs(connection), 0)
  assert.equal(patience.takeMs(connection), 0)
})
