import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Storage } from '../../sdk/index.ts'
import { findCost } from './recording-cost.ts'

const gigabyte = 1e9

type Known = { id: number; perDay: number; days?: number; max?: number }

function storageOf(
  cameras: readonly Known[],
  { max, disk, elsewhere = 0 }: { max?: number; disk?: number; elsewhere?: number },
): Storage {
  const perDay = cameras.reduce((sum, camera) => sum + camera.perDay * gigabyte, 0)
  return {
    ...{ used_bytes: 0, max_bytes: max === undefined ? null : max * gigabyte, share_bytes: null },
    ...{ bytes_per_day: perDay, full_at: null },
    cameras: cameras.map(({ id, perDay, days, max }) => ({
      ...{ id, used_bytes: 0, max_bytes: max === undefined ? null : max * gigabyte },
      ...{ bytes_per_day: perDay * gigabyte, recording_start: null, retention_days: days ?? null, forecast_days: null },
    })),
    server:
      disk === undefined
        ? null
        : {
            ...{ used_bytes: 20 * gigabyte, max_bytes: null, bytes_per_day: perDay + elsewhere * gigabyte },
            ...{ disk_bytes: null, disk_free_bytes: (disk - 10) * gigabyte, min_free_bytes: 10 * gigabyte },
            ...{ full_at: null, places: [], clock_doubt: null, repair: null },
          },
  }
}

const question = { days: 10, bytesPerDay: 20 * gigabyte, maxBytes: undefined, storage: undefined, cameraId: undefined }

test('the need is that of the requested time or of the limit, whatever room there is', () => {
  assert.deepEqual(findCost(question), { bytes: 200 * gigabyte, days: 10, endedBy: undefined })
  assert.equal(findCost({ ...question, maxBytes: 300 * gigabyte }).endedBy, undefined)
  const limited = { bytes: 50 * gigabyte, days: 2.5, endedBy: 'limit' }
  assert.deepEqual(findCost({ ...question, maxBytes: 50 * gigabyte }), limited)
  const small = storageOf([], { disk: 80 })
  assert.deepEqual(findCost({ ...question, storage: small }), { bytes: 200 * gigabyte, days: 4, endedBy: 'room' })
  assert.deepEqual(findCost({ ...question, storage: small, maxBytes: 50 * gigabyte }), limited)
})

test('all cameras share the disk, those of others too', () => {
  // Four of 20 GB a day on 80 GB: a day each, however the fourth is looked at.
  const three = [1, 2, 3].map((id) => ({ id, perDay: 20, days: 10 }))
  assert.equal(findCost({ ...question, storage: storageOf(three, { disk: 80 }) }).days, 1)
  const four = [...three, { id: 4, perDay: 20, days: 10 }]
  assert.equal(findCost({ ...question, storage: storageOf(four, { disk: 80 }), cameraId: 4 }).days, 1)
  assert.equal(findCost({ ...question, storage: storageOf([], { disk: 80, elsewhere: 60 }) }).days, 1)
  // What others keep for a shorter time, or within a limit, leaves more.
  const modest = [
    { id: 1, perDay: 20, days: 0.5 },
    { id: 2, perDay: 20, days: 10, max: 10 },
    { id: 3, perDay: 0, days: 10 },
    { id: 4, perDay: 20 },
  ]
  assert.equal(findCost({ ...question, storage: storageOf(modest, { disk: 80 }) }).days, 3)
})

test('the limit of the user counts as well as the disk', () => {
  const one = [{ id: 1, perDay: 20, days: 10 }]
  assert.equal(findCost({ ...question, storage: storageOf(one, { max: 40 }) }).days, 1)
  assert.equal(findCost({ ...question, storage: storageOf(one, { max: 40, disk: 20 }) }).days, 0.5)
  assert.equal(findCost({ ...question, storage: storageOf(one, {}) }).endedBy, undefined)
})
