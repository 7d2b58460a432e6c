import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PendingItems } from './pending-items.ts'

function createKept(options: { maxEntries?: number; maxPerUser?: number } = {}) {
  let nowMs = 0
  const kept = new PendingItems<string>({ clock: { monotonicMs: () => nowMs }, lifetimeMs: 1000, ...options })
  return { kept, pass: (ms: number) => void (nowMs += ms) }
}

test('what is kept is found by its owner, for its time', () => {
  const { kept, pass } = createKept()
  const name = kept.put('ada', 1, '/a')
  assert.equal(kept.find('ada', name), '/a')
  assert.equal(kept.find('eve', name), undefined)
  assert.equal(kept.find('ada', 'other'), undefined)
  pass(999)
  assert.equal(kept.find('ada', name), '/a')
  pass(1)
  assert.equal(kept.find('ada', name), undefined)
  assert.equal(kept.size, 0)
})

test('what is taken is gone, and only its owner takes it', () => {
  const { kept } = createKept()
  const name = kept.put('ada', 1, '/a')
  assert.equal(kept.take('eve', name), undefined)
  assert.equal(kept.take('ada', name), '/a')
  assert.equal(kept.take('ada', name), undefined)
  assert.equal(kept.size, 0)
})

test('who keeps too much loses their own, not that of others', () => {
  const { kept } = createKept({ maxPerUser: 2 })
  const mine = kept.put('ada', 1, '/a')
  const names = [1, 2, 3].map((i) => kept.put(`eve ${i}`, 2, `/${i}`))
  assert.equal(kept.find('ada', mine), '/a')
  assert.deepEqual(
    names.map((name, i) => kept.find(`eve ${i + 1}`, name)),
    [undefined, '/2', '/3'],
  )
})

test('there is an end to it altogether: whoever has most loses the oldest', () => {
  const { kept } = createKept({ maxEntries: 10 })
  const mine = kept.put('ada', 1, '/a')
  const names = Array.from({ length: 40 }, (_, i) => kept.put('eve', 2 + (i % 3), `/${i}`))
  assert.equal(kept.size, 10)
  assert.equal(kept.find('ada', mine), '/a')
  assert.equal(kept.find('eve', names.at(-1)!), '/39')
  assert.equal(kept.find('eve', names[0]!), undefined)
})
