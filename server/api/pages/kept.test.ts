import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Kept } from './kept.ts'

function createKept(options: { maxEntries?: number; maxPerAddress?: number } = {}) {
  let nowMs = 0
  const kept = new Kept<string>({ clock: { monotonicMs: () => nowMs }, lifetimeMs: 1000, ...options })
  return { kept, pass: (ms: number) => void (nowMs += ms) }
}

test('what is kept is found by its owner, for its time', () => {
  const { kept, pass } = createKept()
  const name = kept.put('ada', '192.0.2.1', '/a')
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
  const name = kept.put('ada', '192.0.2.1', '/a')
  assert.equal(kept.take('eve', name), undefined)
  assert.equal(kept.take('ada', name), '/a')
  assert.equal(kept.take('ada', name), undefined)
  assert.equal(kept.size, 0)
})

test('one address pushes out its own entries, not those of others', () => {
  const { kept } = createKept({ maxPerAddress: 2 })
  const mine = kept.put('ada', '192.0.2.1', '/a')
  const names = [1, 2, 3].map((i) => kept.put('eve', `2001:db8::${i}`, `/${i}`))
  assert.equal(kept.find('ada', mine), '/a')
  assert.deepEqual(
    names.map((name) => kept.find('eve', name)),
    [undefined, '/2', '/3'],
  )
})

test('there is an end to it altogether: the oldest goes', () => {
  const { kept } = createKept({ maxEntries: 2 })
  const names = [1, 2, 3].map((i) => kept.put('ada', `192.0.2.${i}`, `/${i}`))
  assert.deepEqual(
    names.map((name) => kept.find('ada', name)),
    [undefined, '/2', '/3'],
  )
  assert.equal(kept.size, 2)
})
