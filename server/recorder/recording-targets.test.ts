import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createPlace } from '../../test/support/archive/one-place.ts'
import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import type { Place } from '../model/place.ts'
import { createNodeDisk } from './recording-disk.ts'
import { SpreadTargets } from './recording-targets.ts'

function openScene(...places: Partial<Place>[]) {
  let nowMs = 0
  const targets = new SpreadTargets({ ...systemClock, monotonicMs: () => nowMs }, silentLogger)
  const members = places.map((values, i) => {
    const place = createPlace(`/${i + 1}`, { id: i + 1, ...values })
    return { place, target: { placeId: place.id, folder: place.folder, disk: createNodeDisk(place.folder) } }
  })
  targets.replace(members)
  const choose = () => targets.choose().map(({ placeId }) => placeId)
  const fail = (id: number) => targets.report(members[id - 1]!.target, new Error('EIO'))
  return { targets, members, choose, fail, wait: (ms: number) => (nowMs += ms) }
}

test('files are spread in proportion to the weights at any time', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }), (weights) => {
      const { choose } = openScene(...weights.map((weight) => ({ weight })))
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      const counts = weights.map(() => 0)
      for (let n = 1; n <= 3 * total; n++) {
        const order = choose()
        assert.equal(new Set(order).size, weights.length, 'all are offered')
        counts[order[0]! - 1]!++
        for (const [i, weight] of weights.entries()) assert.ok(Math.abs(counts[i]! - (n * weight) / total) < 2)
      }
    }),
  )
})

test('a place that failed comes last for ten seconds, and one that is drained after all others', () => {
  const { choose, fail, wait, targets, members } = openScene({}, {}, { isDraining: true })
  assert.ok(fail(1), 'others work')
  for (let i = 0; i < 4; i++) assert.deepEqual(choose(), [2, 1, 3])
  assert.ok(fail(2), 'the drained one works')
  assert.equal(choose().at(-1), 3)
  assert.ok(!fail(3), 'none works')
  wait(10_001)
  const first = [choose()[0], choose()[0]]
  assert.deepEqual(first.sort(), [1, 2])
  targets.report(members[0]!.target)
  fail(2)
  assert.deepEqual(choose().slice(0, 1), [1])
})

test('places that are added or removed change what follows, not what was counted', () => {
  const { choose, targets, members } = openScene({}, {})
  assert.deepEqual([choose()[0], choose()[0], choose()[0]], [1, 2, 1])
  targets.replace(members.slice(1))
  assert.deepEqual(choose(), [2])
  targets.replace([])
  assert.deepEqual(choose(), [])
})
