import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Storage } from '../../sdk/index.ts'
import { findCost, findRoom } from './recording-cost.ts'

test('recordings reach back for the requested time unless a limit or the disk is smaller', () => {
  const question = { days: 10, bytesPerDay: 20e9, maxBytes: undefined, roomBytes: undefined }
  assert.deepEqual(findCost(question), { bytes: 200e9, days: 10, endedBy: undefined })
  assert.deepEqual(findCost({ ...question, maxBytes: 300e9 }), { bytes: 200e9, days: 10, endedBy: undefined })
  assert.deepEqual(findCost({ ...question, maxBytes: 50e9 }), { bytes: 50e9, days: 2.5, endedBy: 'limit' })
  assert.deepEqual(findCost({ ...question, roomBytes: 50e9 }), { bytes: 50e9, days: 2.5, endedBy: 'room' })
  assert.equal(findCost({ ...question, roomBytes: 50e9, maxBytes: 40e9 }).endedBy, 'limit')
  assert.equal(findCost({ ...question, roomBytes: 0 }).days, 0)
})

test('available space is what the tightest limit leaves plus what the camera already uses', () => {
  const camera = { max_bytes: null, bytes_per_day: 0, recording_start: null, retention_days: 7, forecast_days: 7 }
  const server = {
    used_bytes: 70,
    max_bytes: null,
    bytes_per_day: 0,
    disk_bytes: 1000,
    min_free_bytes: 50,
    full_at: null,
    places: [],
  }
  const storage: Storage = {
    ...{ used_bytes: 30, max_bytes: null, bytes_per_day: 0, full_at: null, server: null },
    cameras: [
      { id: 1, used_bytes: 10, ...camera },
      { id: 2, used_bytes: 20, ...camera },
    ],
  }
  assert.equal(findRoom(storage, 1), undefined)
  assert.equal(findRoom({ ...storage, max_bytes: 100 }, 1), 80)
  assert.equal(findRoom({ ...storage, max_bytes: 100 }, undefined), 70)
  assert.equal(findRoom({ ...storage, max_bytes: 20 }, 2), 20, 'nothing is left but its own')
  assert.equal(findRoom({ ...storage, max_bytes: 500, server: { ...server, disk_free_bytes: 90 } }, 2), 60)
  assert.equal(findRoom({ ...storage, server: { ...server, disk_free_bytes: null } }, 2), undefined)
})
