import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { placeCamera } from './placement.ts'

const servers = (names: readonly string[]) => names.map((name) => ({ name, labels: [], processors: 4 }))
const ids = Array.from({ length: 3000 }, (_, i) => i + 1)
const place = (names: readonly string[]) => ids.map((id) => placeCamera(id, servers(names))?.server)

test('cameras are spread evenly, and only those of a server that comes or goes are moved', () => {
  const name = fc.string({ unit: fc.constantFrom(...'abn012-.'), minLength: 1, maxLength: 8 })
  const sets = fc.uniqueArray(name, { minLength: 2, maxLength: 8 })
  fc.assert(
    fc.property(sets, (names) => {
      const all = place(names)
      for (const each of names) {
        const count = all.filter((server) => server === each).length
        const share = ids.length / names.length
        assert.ok(Math.abs(count - share) < 6 * Math.sqrt(share), `${each} has ${count} of ${ids.length}`)
      }
      const [gone, ...rest] = names
      for (const [i, server] of place(rest).entries())
        if (all[i] !== gone) assert.equal(server, all[i], 'moved although its server is there')
      assert.deepEqual(place(names.toReversed()), all, 'whoever computes it')
    }),
    { numRuns: 20 },
  )
})

test('a server with more processors has more cameras; when it gets more, cameras only move to it', () => {
  const count = (processors: number) =>
    ids.map((id) => placeCamera(id, [...servers(['n1', 'n2']), { name: 'n3', labels: [], processors }])?.server)
  const [before, after] = [count(8), count(24)]
  for (const [all, share] of [
    [before, 8 / 16],
    [after, 24 / 32],
  ] as const) {
    const had = all.filter((server) => server === 'n3').length / ids.length
    assert.ok(Math.abs(had - share) < 0.04, `${had} instead of ${share}`)
  }
  for (const [i, server] of after.entries()) assert.ok(server === before[i] || server === 'n3')
})

test('a camera is at the server that it asks for, at one with its label, or anywhere', () => {
  const all = [
    { name: 'n1', labels: ['cellar'], processors: 4 },
    { name: 'n2', labels: ['attic', 'fast'], processors: 4 },
    { name: 'n3', labels: ['attic'], processors: 4 },
  ]
  assert.deepEqual(placeCamera(7, all, { node: 'n2' }), { server: 'n2', by: 'name' })
  assert.deepEqual(placeCamera(7, all, { label: 'cellar' }), { server: 'n1', by: 'label' })
  assert.notEqual(placeCamera(7, all, { label: 'attic' })?.server, 'n1')
  assert.equal(placeCamera(7, all, { node: 'n9', label: 'roof' })?.by, 'spread')
  assert.deepEqual(placeCamera(7, all, { node: 'n9', label: 'fast' }), { server: 'n2', by: 'label' })
  assert.equal(placeCamera(7, []), undefined)
})
