import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesOf, hevcSamples } from '../../../test/fixtures/cameras/hevc-parameter-sets.ts'
import { packetizeH265 } from '../../../test/support/media/h265/packetizer.ts'
import { NalDepacketizer } from '../nal/nal-depacketizer.ts'
import { listLengthPrefixedNalUnits } from '../nal/nal-units.ts'
import { h265Codec } from './h265-codec.ts'

const [small, large] = hevcSamples
const setsOf = (sample: (typeof hevcSamples)[number]) => [sample.vps, sample.sps, sample.pps].map(bytesOf)

/** A slice NAL unit. `isFirst` marks the first slice of its picture. */
function slice(type: number, bytes: number, isFirst = true): Uint8Array {
  const unit = new Uint8Array(Math.max(3, bytes)).fill(0x55)
  unit.set([type << 1, 1, isFirst ? 0x90 : 0x48])
  return unit
}

const key = (bytes = 20, type = 19) => [...setsOf(small), slice(type, bytes)]
const inter = (bytes = 20) => [slice(1, bytes)]

type Seen = { isKey: boolean; timestamp: number; units: Uint8Array[] } | string

function open() {
  const seen: Seen[] = []
  const depacketizer = new NalDepacketizer(h265Codec, {
    onFormat: ({ codec, width, height, codecString }) => seen.push(`${codec} ${width}x${height} ${codecString}`),
    onFrame: (data, timestamp, isKey) => seen.push({ isKey, timestamp, units: listLengthPrefixedNalUnits(data) }),
  })
  const send = (payloads: readonly Uint8Array[], timestamp: number) => {
    for (const [i, payload] of payloads.entries()) {
      depacketizer.push(payload, 0, payload.length, timestamp, i === payloads.length - 1)
    }
  }
  const times = () => seen.map((item) => (typeof item === 'string' ? item : item.timestamp))
  return { seen, depacketizer, send, times }
}

const format = 'h265 640x360 hvc1.1.6.L63.90'

test('access units are read back without parameter sets and delimiters at any packet size', () => {
  const unit = fc.record({ type: fc.constantFrom(0, 1, 19, 21, 39, 40), bytes: fc.integer({ min: 3, max: 4000 }) })
  const accessUnits = fc.array(fc.array(unit, { minLength: 1, maxLength: 4 }), { maxLength: 8 })
  fc.assert(
    fc.property(accessUnits, fc.integer({ min: 60, max: 1500 }), (list, maxPayloadBytes) => {
      const { seen, send } = open()
      const sent: Seen[] = []
      const sendUnit = (units: Uint8Array[], timestamp: number, isKey: boolean) => {
        const delimiter = Uint8Array.of(35 << 1, 1, 0x50)
        send(packetizeH265([delimiter, ...(isKey ? setsOf(small) : []), ...units], maxPayloadBytes), timestamp)
        sent.push({ isKey, timestamp, units })
      }
      sendUnit([slice(19, 300)], 0, true)
      for (const [i, kinds] of list.entries()) {
        const units = kinds.map(({ type, bytes }) => slice(type, bytes))
        if (!kinds.some(({ type }) => type < 32)) units.push(slice(1, 10))
        sendUnit(
          units,
          (i + 1) * 3600,
          kinds.some(({ type }) => type === 19 || type === 21),
        )
      }
      sendUnit([slice(1, 3)], 1e9, false)
      assert.deepEqual(seen, [format, ...sent])
    }),
  )
})

test('what decoders ignore is no loss: types left open, other layers, fragments of headers alone', () => {
  const { seen, send, depacketizer } = open()
  const unit = slice(1, 300)
  const fragment = (flags: number, bytes: Uint8Array) => Uint8Array.of(49 << 1, 1, flags | 1, ...bytes)
  const ofLayer = Uint8Array.of(33 << 1, 9, 1, 2, 3)
  const sliceOfLayer = Uint8Array.of((49 << 1) | 1, 1, 0xc0 | 19, 0x90, 5)
  const ignored = [
    Uint8Array.of((48 + 8) << 1, 1, 7),
    Uint8Array.of(63 << 1, 1, 7),
    Uint8Array.of(41 << 1, 1),
    ofLayer,
    sliceOfLayer,
  ]
  send([...packetizeH265(key()), ...ignored], 0)
  const parts = [
    fragment(0x80, unit.subarray(0, 0)),
    fragment(0, unit.subarray(2, 9)),
    fragment(0, unit.subarray(0, 0)),
  ]
  send([...ignored, ...parts, fragment(0, unit.subarray(9)), fragment(0x40, unit.subarray(0, 0))], 1)
  const joined = Uint8Array.from(setsOf(small).flatMap((set) => [...set, 0, 0, 1]))
  send([Uint8Array.of(...joined, ...slice(19, 30))], 2)
  assert.deepEqual(seen, [
    format,
    { isKey: true, timestamp: 0, units: [slice(19, 20)] },
    { isKey: false, timestamp: 1, units: [unit] },
    { isKey: true, timestamp: 2, units: [slice(19, 30)] },
  ])
  assert.deepEqual(depacketizer.counters, { frames: 3, droppedFrames: 0, losses: 0, badPayloads: 0 })
})

test('parameter sets from the SDP are sufficient', () => {
  const { depacketizer, send, times } = open()
  for (const set of setsOf(small)) depacketizer.takeParameterSet(set)
  assert.ok(depacketizer.hasParameterSets)
  for (const [i, type] of [20, 1, 1].entries()) send([slice(type, 30)], i)
  assert.deepEqual(times(), [format, 0, 1, 2])
})

test('new parameter sets in mid-stream report a new format, repeated ones do not', () => {
  const { send, times } = open()
  const other = [...setsOf(large), slice(19, 9)]
  for (const [i, units] of [key(), key(), other, inter(), inter()].entries()) send(packetizeH265(units), i)
  assert.deepEqual(times(), [format, 0, 1, 'h265 1920x1080 hvc1.1.6.L120.90', 2, 3, 4])
})

test('leading pictures whose references are missing are dropped, others are kept', () => {
  const { depacketizer, send, times } = open()
  const rasl = [slice(9, 20)]
  const group = () => [
    packetizeH265(key(20, 21)),
    packetizeH265(rasl),
    packetizeH265([slice(8, 20)]),
    packetizeH265(inter()),
  ]
  const radl = packetizeH265([slice(6, 20)])
  const list = [...group(), ...group(), radl]
  for (const [i, payloads] of list.entries()) send(payloads, i)
  depacketizer.markLoss()
  for (const [i, payloads] of [...group(), radl].entries()) send(payloads, 100 + i)
  send(packetizeH265(inter()), 200)
  assert.deepEqual(times(), [format, 0, 3, 4, 5, 6, 7, 8, 100, 103, 104, 200])
})

test('leading pictures after a splice (BLA) that refer to earlier pictures are dropped', () => {
  const { send, times } = open()
  const rasl = packetizeH265([slice(9, 20)])
  const spliced = [packetizeH265(key(20, 16)), rasl, packetizeH265(inter())]
  for (const [i, payloads] of [packetizeH265(key()), ...spliced].entries()) send(payloads, i)
  assert.deepEqual(times(), [format, 0, 1, 3])
})

test('a stream without IRAP pictures starts at a recovery point', () => {
  const { seen, depacketizer, send } = open()
  /** Recovery point of 4 pictures: se(4), not exact, not broken. */
  const message = Uint8Array.of(39 << 1, 1, 6, 2, 0b0001000_0, 0b0_1_000000, 0x80)
  const group = () => [[...setsOf(small), message, slice(1, 500)], ...Array.from({ length: 6 }, () => inter())]
  for (const [i, units] of [inter(), ...group(), ...group()].entries()) send(packetizeH265(units, 100), i)
  const frames = seen.flatMap((item) => (typeof item === 'string' ? [] : [item]))
  assert.deepEqual(
    frames.filter(({ isKey }) => isKey).map(({ timestamp }) => timestamp),
    [1, 8],
  )
  assert.equal(frames.length, 14)
  assert.equal(depacketizer.counters.droppedFrames, 1)
})

test('a lost packet drops its group of pictures and never produces a corrupt frame', () => {
  const { depacketizer, send, times } = open()
  send(packetizeH265(key(5000)), 0)
  const cut = packetizeH265(inter(5000))
  for (const payload of cut.slice(0, 2)) depacketizer.push(payload, 0, payload.length, 1, false)
  depacketizer.markLoss()
  for (const payload of cut.slice(3)) depacketizer.push(payload, 0, payload.length, 1, payload === cut.at(-1))
  send(packetizeH265(inter()), 2)
  depacketizer.markLoss()
  send(packetizeH265(key(5000)).slice(2), 3)
  send(packetizeH265(inter()), 4)
  send(packetizeH265(key()), 5)
  send(packetizeH265(inter()), 6)
  assert.deepEqual(times(), [format, 0, 5, 6])
})

test('random payloads never throw', () => {
  const payload = fc.tuple(fc.nat(255), fc.nat(255), fc.uint8Array({ maxLength: 30 }), fc.nat(3), fc.boolean())
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 30 }), (payloads) => {
      const { depacketizer } = open()
      for (const [first, second, rest, timestamp, isMarked] of payloads) {
        const bytes = Uint8Array.of(first, second, ...rest)
        depacketizer.push(bytes, 0, bytes.length, timestamp, isMarked)
      }
    }),
    { numRuns: 1000 },
  )
})
