import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type FrameMemory, FrameMemoryPool } from './frame-memory.ts'

test('memory is reused when its last holder releases it, and not before', () => {
  const pool = new FrameMemoryPool(1024 * 1024)
  const memory = pool.take()
  memory.bytes[0] = 7
  memory.hold()
  memory.release()
  assert.equal(memory.bytes[0], 7)
  memory.release()
  assert.equal(pool.freeBytes, 256 * 1024)
  assert.equal(memory.bytes.length, 0, 'a reader that keeps a released frame sees an empty frame, not another one')
  assert.equal(pool.take().bytes.length, 256 * 1024)
  assert.equal(pool.freeBytes, 0)
})

test('memory that is left to the JavaScript engine is never reused', () => {
  const pool = new FrameMemoryPool(1024 * 1024)
  const memory = pool.take()
  memory.leave()
  for (let i = 0; i < 5; i++) memory.release()
  assert.equal(memory.bytes.length, 256 * 1024)
  assert.equal(pool.freeBytes, 0)
})

test('memory that is held is never shared, and the free memory stays within its limit', () => {
  const step = fc.record({ what: fc.constantFrom('take', 'hold', 'release', 'leave'), which: fc.nat(20) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const pool = new FrameMemoryPool(600 * 1024)
      const held: { memory: FrameMemory; mark: number; holders: number }[] = []
      for (const [mark, { what, which }] of steps.entries()) {
        const one = held[which % Math.max(1, held.length)]
        if (what === 'take') {
          const memory = pool.take(which % 3 === 0 ? 300 * 1024 : undefined)
          memory.bytes.fill(mark, 0, 4)
          held.push({ memory, mark, holders: 1 })
        } else if (one && what === 'leave') one.memory.leave()
        else if (one && what === 'hold') {
          one.memory.hold()
          one.holders++
        } else if (one) {
          one.memory.release()
          if (--one.holders === 0) held.splice(held.indexOf(one), 1)
        }
        for (const { memory, mark } of held) assert.equal(memory.bytes[3], mark & 0xff)
        assert.ok(pool.freeBytes <= 600 * 1024)
      }
    }),
  )
})
