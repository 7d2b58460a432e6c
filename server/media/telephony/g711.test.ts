import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aLawTable, muLawTable } from './g711.ts'
import { bitsPerSample, silenceByte, telephoneCodings } from './telephone-coding.ts'

const linear = (table: Float32Array, code: number) => table[code]! * 32768 + 0

test('the ends and middles of both laws equal the G.711 tables, scaled to 16 bits', () => {
  assert.deepEqual(
    [0x00, 0x80, 0x7f, 0xff, 0x0f, 0x8f, 0x70, 0xf0].map((code) => linear(muLawTable, code)),
    [-32124, 32124, 0, 0, -16764, 16764, -120, 120],
  )
  assert.deepEqual(
    [0x2a, 0xaa, 0x55, 0xd5, 0x00, 0x80].map((code) => linear(aLawTable, code)),
    [-32256, 32256, -8, 8, -5504, 5504],
  )
})

test('each law has a code for both signs of every step, and its silence decodes to zero', () => {
  for (const [table, coding] of [
    [muLawTable, 'pcmu'],
    [aLawTable, 'pcma'],
  ] as const) {
    const values = new Set(table)
    for (const value of values) assert.ok(values.has(-value), `${value}`)
    assert.ok(Math.abs(table[silenceByte(coding)]!) < 0.001)
  }
})

test('the bits per sample are derived from the name', () => {
  assert.deepEqual(telephoneCodings.map(bitsPerSample), [8, 8, 2, 3, 4, 5, 2, 3, 4, 5])
})
