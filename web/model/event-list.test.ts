import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutIntoDays, listKinds, ownKinds } from './event-list.ts'
import { createZone } from './zone.ts'

const at = (occurred_at: string) => ({ occurred_at })

test("events are grouped by the user's midnight, not UTC", () => {
  const days = cutIntoDays(
    [at('2026-11-20T23:30:00Z'), at('2026-11-20T22:59:59Z'), at('2026-11-20T08:00:00Z'), at('2026-11-18T12:00:00Z')],
    createZone('Europe/Berlin'),
  )
  assert.deepEqual(
    days.map(({ startMs, events }) => [new Date(startMs).toISOString(), events.length]),
    [
      ['2026-11-20T23:00:00.000Z', 1],
      ['2026-11-19T23:00:00.000Z', 2],
      ['2026-11-17T23:00:00.000Z', 1],
    ],
  )
  assert.deepEqual(cutIntoDays([], createZone('UTC')), [])
})

test('a day of 25 hours is one day', () => {
  const hours = Array.from({ length: 25 }, (_, hour) => at(new Date(Date.UTC(2026, 9, 24, 22 + hour)).toISOString()))
  assert.equal(cutIntoDays(hours, createZone('Europe/Berlin')).length, 1)
})

test('categories list the server’s own first, then those seen or filtered by, each once', () => {
  assert.deepEqual(listKinds(['motion', 'camera_online', 'door', 'motion'], 'bell'), [
    ...ownKinds,
    'bell',
    'door',
    'motion',
  ])
  assert.deepEqual(listKinds([], 'camera_offline'), [...ownKinds])
})
