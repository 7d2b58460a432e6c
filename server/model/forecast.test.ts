import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type CameraLoad, forecastStorage, type Room } from './forecast.ts'

const dayMs = 86_400_000
const gigabyte = 1e9
const perDay = (bytes: number) => bytes / dayMs
const noRoom: Room = { users: new Map(), archiveBytes: undefined, diskBytes: undefined }

const load = (cameraId: number, values: Partial<CameraLoad> = {}): CameraLoad => ({
  cameraId,
  ownerId: 1,
  bytes: 0,
  bytesPerMs: perDay(10 * gigabyte),
  ageMs: 0,
  maxAgeMs: undefined,
  maxBytes: undefined,
  ...values,
})

const daysOf = (ms: number | undefined) => Math.round((ms! / dayMs) * 1000) / 1000

test('a camera reaches back as far as the first of its own limits', () => {
  const loads = [
    load(1, { maxAgeMs: 7 * dayMs, maxBytes: 100 * gigabyte }),
    load(2, { maxAgeMs: 30 * dayMs, maxBytes: 100 * gigabyte }),
    load(3),
    load(4, { bytesPerMs: 0, maxAgeMs: 7 * dayMs, bytes: 5 }),
  ]
  const { reachMs } = forecastStorage(loads, noRoom)
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => daysOf(reachMs.get(id))),
    [7, 10, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  )
})

test('a limit over several cameras cuts all at one age, but those that are younger anyway', () => {
  const loads = [load(1, { maxAgeMs: 2 * dayMs }), load(2, { maxAgeMs: 30 * dayMs }), load(3, { ownerId: 2 })]
  const users = forecastStorage(loads, { ...noRoom, users: new Map([[1, 100 * gigabyte]]) })
  assert.deepEqual(
    [1, 2, 3].map((id) => daysOf(users.reachMs.get(id))),
    [2, 8, Number.POSITIVE_INFINITY],
  )
  assert.equal(daysOf(users.userFullMs.get(1)), 8, 'two days both grow, six only one')
  const all = forecastStorage(loads, {
    users: new Map([[1, 100 * gigabyte]]),
    archiveBytes: 160 * gigabyte,
    diskBytes: 75 * gigabyte,
  })
  assert.equal(daysOf(all.archiveFullMs), 7, 'to 60 in two days, then by 20 a day')
  assert.deepEqual(
    [1, 2, 3].map((id) => daysOf(all.reachMs.get(id))),
    [2, 2.75, 2.75],
    'the disk is what matters',
  )
})

test('what is there already counts, and a limit that is never reached is never full', () => {
  const week = load(1, { maxAgeMs: 7 * dayMs, ageMs: 5 * dayMs, bytes: 50 * gigabyte })
  const full = (archiveBytes: number) => forecastStorage([week], { ...noRoom, archiveBytes }).archiveFullMs
  assert.equal(daysOf(full(60 * gigabyte)), 1)
  assert.equal(full(50 * gigabyte), 0)
  assert.equal(full(40 * gigabyte), 0)
  assert.equal(full(80 * gigabyte), Number.POSITIVE_INFINITY)
})

const loads = fc.array(
  fc.record({
    ownerId: fc.constantFrom(1, 2, undefined),
    bytes: fc.nat(1000),
    bytesPerMs: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 10, noNaN: true })),
    ageMs: fc.nat(1000),
    maxAgeMs: fc.option(fc.integer({ min: 1, max: 2000 }), { nil: undefined }),
    maxBytes: fc.option(fc.integer({ min: 1, max: 5000 }), { nil: undefined }),
  }),
  { maxLength: 6 },
)

test('at the age that is forecast the cameras make up what they may have, and never more', () => {
  fc.assert(
    fc.property(loads, fc.integer({ min: 1, max: 20_000 }), (list, archiveBytes) => {
      const cameras = list.map((each, cameraId) => ({ ...each, cameraId }))
      const { reachMs, archiveFullMs } = forecastStorage(cameras, { ...noRoom, archiveBytes })
      const own = forecastStorage(cameras, noRoom).reachMs
      const bytesAt = (reach: ReadonlyMap<number, number>) =>
        cameras.reduce((sum, { cameraId, bytesPerMs }) => sum + (bytesPerMs && bytesPerMs * reach.get(cameraId)!), 0)
      const wanted = bytesAt(own)
      const settled = bytesAt(reachMs)
      assert.ok(Math.abs(settled - Math.min(wanted, archiveBytes)) <= 1e-6 * archiveBytes)
      if (archiveFullMs === Number.POSITIVE_INFINITY || archiveFullMs === 0) return
      const grown = cameras.reduce((sum, { cameraId, bytes, bytesPerMs, ageMs }) => {
        const growingMs = Math.min(archiveFullMs, Math.max(0, own.get(cameraId)! - ageMs))
        return sum + bytes + bytesPerMs * growingMs
      }, 0)
      assert.ok(Math.abs(grown - archiveBytes) <= 1e-6 * archiveBytes)
    }),
  )
})
