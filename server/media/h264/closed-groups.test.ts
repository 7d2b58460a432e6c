import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeLengthPrefixedNalUnits } from '../nal/nal-units.ts'
import { writeAvcConfig } from './avc-config.ts'
import { ClosedGroups } from './closed-groups.ts'
import { bytesOf, pps, slice, sps } from './test-units.ts'

// What encoders make of it is in test/e2e/open-groups.test.ts.

const picture = (data: Uint8Array, isKey = false, recovery?: number) => ({ data, isKey, recovery, memory: undefined })

test('groups that are not open, and those that cannot be read, are given back as they are', () => {
  const groups = new ClosedGroups(writeAvcConfig({ sps: [sps], pps: [pps] }))
  const idr = picture(writeLengthPrefixedNalUnits([slice(5, 40)]), true)
  const other = picture(writeLengthPrefixedNalUnits([slice(1, 40)]))
  assert.equal(groups.close(idr), idr)
  assert.equal(groups.close(other), other)
  const gradual = picture(other.data, true, 18)
  assert.equal(groups.close(gradual), gradual)
  for (const data of [new Uint8Array(), bytesOf('00000002410a'), writeLengthPrefixedNalUnits([bytesOf('6180')])]) {
    const open = picture(data, true, 0)
    assert.equal(groups.close(open), open)
    assert.equal(groups.close(other), other)
  }
  for (const config of [new Uint8Array(), bytesOf('0142c01effe1ffff')]) {
    const open = picture(other.data, true, 0)
    assert.equal(new ClosedGroups(config).close(open), open)
  }
})

test('any bytes of a camera give pictures or nothing', () => {
  const unit = fc.tuple(fc.constantFrom(0x61, 0x41, 0x01, 0x65, 0x06), fc.uint8Array({ maxLength: 40 }))
  const units = fc.array(unit.map(([first, rest]) => Uint8Array.of(first, 0x80 | (rest[0] ?? 0), ...rest)))
  fc.assert(
    fc.property(fc.array(fc.tuple(units, fc.boolean()), { maxLength: 8 }), (pictures) => {
      const groups = new ClosedGroups(writeAvcConfig({ sps: [sps], pps: [pps] }))
      for (const [i, [list, isKey]] of pictures.entries()) {
        const start = isKey || i === 0
        groups.close(picture(writeLengthPrefixedNalUnits(list), start, start ? 0 : undefined))
      }
    }),
    { numRuns: 1000 },
  )
})
