import assert from 'node:assert/strict'
import { test } from 'node:test'
import { H264ParameterSets } from '../h264/parameter-sets.ts'
import { ParameterSetStore } from './parameter-set-store.ts'

test('oversized parameter sets are not stored', () => {
  const store = new ParameterSetStore()
  for (let id = 0; id < 32; id++) {
    assert.throws(() => store.put({ kind: 7, id, parentId: -1 }, new Uint8Array(65_536)), { kind: 'corrupt' })
  }
  assert.deepEqual(store.list(7), [])
  store.put({ kind: 7, id: 1, parentId: -1 }, new Uint8Array(65_535))
  assert.equal(store.list(7).length, 1)
  // As received: a sequence parameter set with header, profile and an id of 0.
  const huge = new Uint8Array(8_000_000).fill(0xff)
  huge.set([0x67, 0x4d, 0x40, 0x1f])
  assert.throws(() => new H264ParameterSets().take(huge, 0, huge.length), { kind: 'corrupt' })
})
