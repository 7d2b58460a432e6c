import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseByteRange } from './byte-range.ts'

test('a single range is limited to the file', () => {
  assert.deepEqual(parseByteRange('bytes=0-0', 10), { first: 0, last: 0 })
  assert.deepEqual(parseByteRange('bytes=3-', 10), { first: 3, last: 9 })
  assert.deepEqual(parseByteRange('bytes=3-99', 10), { first: 3, last: 9 })
  assert.deepEqual(parseByteRange('bytes=-4', 10), { first: 6, last: 9 })
  assert.deepEqual(parseByteRange('bytes=-40', 10), { first: 0, last: 9 })
  assert.deepEqual(parseByteRange(`bytes=0-${'9'.repeat(24)}`, 10), { first: 0, last: 9 })
  assert.deepEqual(parseByteRange(`bytes=-${'9'.repeat(400)}`, 10), { first: 0, last: 9 })
  assert.deepEqual(parseByteRange('Bytes=1-2', 10), { first: 1, last: 2 })
})

test('a range beyond the end cannot be satisfied', () => {
  assert.equal(parseByteRange('bytes=10-', 10), 'unsatisfiable')
  assert.equal(parseByteRange('bytes=-0', 10), 'unsatisfiable')
  assert.equal(parseByteRange(`bytes=${'9'.repeat(400)}-`, 10), 'unsatisfiable')
})

test('anything but a single range of bytes is ignored', () => {
  for (const header of [
    undefined,
    '',
    'bytes=-',
    'bytes=5-3',
    'bytes=0-1,3-4',
    'items=0-1',
    'bytes=a-b',
    'bytes=0x1-2',
  ]) {
    assert.equal(parseByteRange(header, 10), undefined, header)
  }
})
