import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { packetizeH264 } from '../../../test/support/media/h264/packetizer.ts'
import { inter, key, openDepacketizer, pps, slice, sps } from '../../../test/support/media/h264-units.ts'

/** Recovery point messages with a count of 0 and of 18 reference frames. */
const openPoint = Uint8Array.of(6, 6, 1, 0b1_1_0_00_1_00, 0x80)
const gradualPoint = Uint8Array.of(6, 6, 2, 0b00001001, 0b1_1_0_00_1_00, 0x80)

test('a stream without IDR pictures starts at a recovery point at any packet size', () => {
  const points = fc.constantFrom(openPoint, gradualPoint)
  fc.assert(
    fc.property(points, fc.integer({ min: 5, max: 300 }), fc.nat(3), (point, maxPayloadBytes, lostGroup) => {
      const { seen, depacketizer, send } = openDepacketizer()
      const recoveries: (number | undefined)[] = []
      const times: number[] = []
      for (let i = 0; i < 20; i++) {
        if (i === lostGroup * 5 + 3) depacketizer.markLoss()
        const units = i % 5 === 1 ? [sps, pps, point, slice(1, 700)] : inter(300)
        send(packetizeH264(units, maxPayloadBytes), i * 3600)
      }
      for (const item of seen) {
        if (typeof item === 'string') continue
        times.push(item.timestamp / 3600)
        if (item.isKey) recoveries.push(item.timestamp / 3600)
      }
      const lost = (i: number) => i >= lostGroup * 5 + 3 && i < lostGroup * 5 + 6
      const expected = Array.from({ length: 19 }, (_, i) => i + 1).filter((i) => !lost(i))
      assert.deepEqual(times, expected)
      assert.deepEqual(recoveries, [1, 6, 11, 16])
    }),
  )
})

test('leading pictures of an open group are dropped where decoding starts and kept elsewhere', () => {
  const { depacketizer, send, times } = openDepacketizer()
  /** In decoding order; presented as 2, 0, 1, 5, 3, 4, 8, … */
  const group = (at: number) => {
    send(packetizeH264([sps, pps, openPoint, slice(1, 50)]), at + 2)
    for (const shown of [0, 1, 5, 3, 4]) send(packetizeH264(inter()), at + shown)
  }
  group(100)
  group(106)
  depacketizer.markLoss()
  group(112)
  send(packetizeH264(inter()), 200)
  send(packetizeH264(inter()), 201)
  const [, ...shown] = times()
  assert.deepEqual(shown, [
    ...[102, 105, 103, 104],
    ...[108, 106, 107, 111, 109, 110],
    ...[114, 117, 115, 116, 200, 201],
  ])
})

test('a camera clock that steps back after a recovery point drops a few frames at most', () => {
  const { depacketizer, send, times } = openDepacketizer()
  depacketizer.markLoss()
  send(packetizeH264([sps, pps, openPoint, slice(1, 50)]), 1e9)
  for (let i = 0; i < 50; i++) send(packetizeH264(inter()), i)
  assert.ok(times().length > 30, `${times().length} pictures`)
})

test('a stream with regular IDR pictures does not start at gradual refresh', () => {
  const { send, seen } = openDepacketizer()
  for (let i = 0; i < 40; i++) {
    const units = i % 10 === 0 ? key() : i % 10 === 5 ? [gradualPoint, slice(1, 30)] : inter()
    send(packetizeH264(units), i)
  }
  const keys = seen.flatMap((item) => (typeof item !== 'string' && item.isKey ? [item.timestamp] : []))
  assert.deepEqual(keys, [0, 5, 10, 20, 30])
})

test('a gradual recovery point with frame number 0 is skipped, except at the start of decoding and never twice in a row', () => {
  /** 0x77 is a P slice of set 0. The 4 bits of `frame_num` follow, or more zeros. */
  const numbered = (number: number) =>
    Uint8Array.of(0x61, 0xe0 | (number === 0 ? 0 : 0xf), number === 0 ? 0x01 : 0xff, 0x55)
  const group = (numbers: readonly number[]) => {
    const { send, seen, depacketizer } = openDepacketizer()
    depacketizer.markLoss()
    for (const [i, number] of numbers.entries()) {
      send(packetizeH264([sps, pps, gradualPoint, numbered(number)]), 10 * i)
      send(packetizeH264(inter()), 10 * i + 5)
    }
    return seen.flatMap((item) => (typeof item !== 'string' && item.isKey ? [item.timestamp] : []))
  }
  assert.deepEqual(group([1, 1, 0, 1, 0, 1]), [0, 10, 30, 50])
  assert.deepEqual(group([0, 0, 0, 0]), [0, 20])
  assert.deepEqual(group([1, 0, 0, 0, 1]), [0, 20, 40])
})
