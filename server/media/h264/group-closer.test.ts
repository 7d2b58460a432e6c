import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesOf, pps, slice, sps } from '../../../test/support/media/h264-units.ts'
import { writeLengthPrefixedNalUnits } from '../nal/nal-units.ts'
import { writeAvcConfig } from './avc-config.ts'
import { GroupCloser } from './group-closer.ts'

// The output of real encoders is tested in test/e2e/open-groups.test.ts.

const createFrame = (data: Uint8Array, isKey = false, recovery?: number) => ({
  data,
  isKey,
  recovery,
  memory: undefined,
})

test('closed groups and unreadable groups are returned unchanged', () => {
  const groups = new GroupCloser(writeAvcConfig({ sps: [sps], pps: [pps] }))
  const idr = createFrame(writeLengthPrefixedNalUnits([slice(5, 40)]), true)
  const other = createFrame(writeLengthPrefixedNalUnits([slice(1, 40)]))
  assert.equal(groups.close(idr), idr)
  assert.equal(groups.close(other), other)
  const gradual = createFrame(other.data, true, 18)
  assert.equal(groups.close(gradual), gradual)
  for (const data of [new Uint8Array(), bytesOf('00000002410a'), writeLengthPrefixedNalUnits([bytesOf('6180')])]) {
    const open = createFrame(data, true, 0)
    assert.equal(groups.close(open), open)
    assert.equal(groups.close(other), other)
  }
  for (const config of [new Uint8Array(), bytesOf('0142c01effe1ffff')]) {
    const open = createFrame(other.data, true, 0)
    assert.equal(new GroupCloser(config).close(open), open)
  }
})

test('random bytes from a camera never throw', () => {
  const unit = fc.tuple(fc.constantFrom(0x61, 0x41, 0x01, 0x65, 0x06), fc.uint8Array({ maxLength: 40 }))
  const units = fc.array(unit.map(([first, rest]) => Uint8Array.of(first, 0x80 | (rest[0] ?? 0), ...rest)))
  fc.assert(
    fc.property(fc.array(fc.tuple(units, fc.boolean()), { maxLength: 8 }), (accessUnits) => {
      const groups = new GroupCloser(writeAvcConfig({ sps: [sps], pps: [pps] }))
      for (const [i, [list, isKey]] of accessUnits.entries()) {
        const start = isKey || i === 0
        groups.close(createFrame(writeLengthPrefixedNalUnits(list), start, start ? 0 : undefined))
      }
    }),
    { numRuns: 1000 },
  )
})
