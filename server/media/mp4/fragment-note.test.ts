import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseChecksumBox, writeChecksumBox } from './checksum-box.ts'
import { parseFragmentNote, writeFragmentNote } from './fragment-note.ts'

const holes = fc.record(
  {
    durationMs: fc.nat(0xffffffff),
    reason: fc.constantFrom('packet_loss', 'no_frames', 'x'.repeat(64)),
    isCut: fc.boolean(),
  },
  { noNullPrototype: true },
)
const notes = fc.oneof(
  fc.record({ hole: holes, isDamaged: fc.boolean() }, { noNullPrototype: true }),
  fc.constant({ hole: undefined, isDamaged: true }),
)

test('a note is parsed to the same values and is not a checksum box', () => {
  fc.assert(
    fc.property(notes, (note) => {
      const bytes = writeFragmentNote(note)
      assert.deepEqual(parseFragmentNote(bytes), note)
      assert.equal(parseChecksumBox(bytes), undefined)
    }),
  )
  assert.equal(parseFragmentNote(writeChecksumBox({ checksum: 7, cameraId: 9 })), undefined)
})

test('other bytes are not a note and never throw', () => {
  fc.assert(
    fc.property(notes, fc.nat(100), fc.nat(255), (note, at, value) => {
      const bytes = writeFragmentNote(note)
      bytes[at % bytes.length] = value
      parseFragmentNote(bytes)
      parseFragmentNote(bytes.subarray(0, at % bytes.length))
    }),
  )
})
