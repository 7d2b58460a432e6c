import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { packetizeH264 } from '../../../test/support/media/h264/packetizer.ts'
import {
  bytesOf,
  inter,
  key,
  largeSps,
  openDepacketizer,
  pps,
  type Seen,
  slice,
  sps,
} from '../../../test/support/media/h264-units.ts'
import { NalDepacketizer } from '../nal/nal-depacketizer.ts'
import { listAnnexBNalUnits, listLengthPrefixedNalUnits, writeLengthPrefixedNalUnits } from '../nal/nal-units.ts'
import type { VideoSink } from '../video-depacketizer.ts'
import { parseAvcConfig } from './avc-config.ts'
import { h264Codec } from './h264-codec.ts'

test('access units are read back without parameter sets at any packet size', () => {
  const unit = fc.record({ type: fc.constantFrom(1, 5, 6), bytes: fc.integer({ min: 2, max: 4000 }) })
  const accessUnits = fc.array(fc.array(unit, { minLength: 1, maxLength: 4 }), { maxLength: 8 })
  fc.assert(
    fc.property(accessUnits, fc.integer({ min: 40, max: 1500 }), (list, maxPayloadBytes) => {
      const { seen, send } = openDepacketizer()
      const sent: Seen[] = []
      const sendUnit = (units: Uint8Array[], timestamp: number, isKey: boolean) => {
        send(packetizeH264([...(isKey ? [sps, pps] : []), ...units], maxPayloadBytes), timestamp)
        sent.push({ isKey, timestamp, units })
      }
      sendUnit([slice(5, 300)], 0, true)
      for (const [i, kinds] of list.entries()) {
        const units = kinds.map(({ type, bytes }) => slice(type, bytes))
        if (!kinds.some(({ type }) => type !== 6)) units.push(slice(1, 10))
        sendUnit(
          units,
          (i + 1) * 3600,
          kinds.some(({ type }) => type === 5),
        )
      }
      sendUnit([slice(1, 2)], 1e9, false)
      assert.deepEqual(seen, ['640x360 avc1.42c01e', ...sent])
    }),
  )
})

test('single NAL unit packets (mode 0) with parameter sets from the SDP give the same frames', () => {
  const { seen, depacketizer, send, times } = openDepacketizer()
  for (const set of [sps, pps]) depacketizer.takeParameterSet(set)
  send([slice(5, 30)], 0)
  send([slice(1, 30)], 1)
  send([slice(1, 30)], 2)
  assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, 2])
  assert.deepEqual(
    seen.map((item) => typeof item !== 'string' && item.isKey),
    [false, true, false, false],
  )
})

test('a lost packet drops its group of pictures and never produces a corrupt frame', () => {
  const { depacketizer, send, times } = openDepacketizer()
  send(packetizeH264(key(5000)), 0)
  send(packetizeH264(inter(5000)), 1)
  const cut = packetizeH264(inter(5000))
  send(cut.slice(0, 2), 2, [])
  depacketizer.markLoss()
  send(cut.slice(3), 2)
  send(packetizeH264(inter()), 3)
  send(packetizeH264(key()), 4)
  send(packetizeH264(inter()), 5)
  assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, 4, 5])
  assert.ok(depacketizer.counters.droppedFrames >= 2)
})

test('kept damaged frames are marked until the next intact key frame; a damaged key frame is no key frame', () => {
  const seen: (readonly [number, boolean, boolean])[] = []
  const sink: VideoSink = {
    onFormat() {},
    onFrame: (_data, timestamp, isKey, _memory, access) =>
      seen.push([timestamp, isKey, access?.isDamaged === true] as const),
  }
  const depacketizer = new NalDepacketizer(h264Codec, sink, { keepsDamaged: () => true })
  const send = (packets: readonly Uint8Array[], timestamp: number, lost = -1) => {
    for (const [i, packet] of packets.entries()) {
      if (i === lost) depacketizer.markLoss()
      else depacketizer.push(packet, 0, packet.length, timestamp, i === packets.length - 1)
    }
  }
  send(packetizeH264(inter()), 0)
  send(packetizeH264(key(5000)), 1)
  send(packetizeH264(inter()), 2)
  send(packetizeH264([slice(1, 3000), slice(1, 3000, false)]), 3, 1)
  send(packetizeH264(inter()), 4)
  send(packetizeH264(inter(5000)), 5, 2)
  send(packetizeH264(inter()), 6)
  send(packetizeH264(key(5000)), 7)
  send(packetizeH264(inter()), 8)
  send(packetizeH264(key(5000)), 9, 2)
  send(packetizeH264(inter()), 10)
  send(packetizeH264(key()), 11)
  send(packetizeH264(inter()), 12)
  assert.deepEqual(seen, [
    [1, true, false],
    [2, false, false],
    // The frames that are left of group 4. Group 5 is lost entirely.
    [3, false, true],
    [4, false, true],
    [6, false, true],
    [7, true, false],
    [8, false, false],
    [11, true, false],
    [12, false, false],
  ])
})

test('a key frame whose first packets were lost is not treated as complete', () => {
  const { depacketizer, send, times } = openDepacketizer()
  send(packetizeH264(key()), 0)
  send(packetizeH264(inter()), 1)
  depacketizer.markLoss()
  send([slice(5, 30, false)], 2)
  depacketizer.markLoss()
  send(packetizeH264(key(5000)).slice(3), 3)
  send(packetizeH264(inter()), 4)
  send(packetizeH264(key()), 5)
  assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, 5])
})

test('a key frame without its parameter sets after a loss is dropped because they may have changed', () => {
  const { depacketizer, send, times } = openDepacketizer()
  send(packetizeH264(key()), 0)
  send(packetizeH264(inter()), 1)
  depacketizer.markLoss()
  send(packetizeH264([slice(5, 20)]), 2)
  send(packetizeH264([slice(5, 20)]), 3)
  send(packetizeH264(inter()), 4)
  assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, 3, 4])
})

test('any packet loss leaves only complete frames whose references are present', () => {
  const lost = fc.array(fc.nat(120), { maxLength: 10 })
  fc.assert(
    fc.property(lost, fc.integer({ min: 100, max: 1200 }), (lost, maxPayloadBytes) => {
      const { seen, depacketizer } = openDepacketizer()
      let packet = 0
      let isGap = false
      const arrived = new Map<number, boolean>()
      for (let i = 0; i < 20; i++) {
        const units =
          i % 5 === 0 ? [sps, pps, slice(5, 1700), slice(5, 900, false)] : [slice(1, 500), slice(1, 200, false)]
        const payloads = packetizeH264(units, maxPayloadBytes)
        let isWhole = true
        for (const [n, payload] of payloads.entries()) {
          if (lost.includes(packet++)) {
            isGap = true
            // Parameter sets that never change may be lost, except for the first ones.
            isWhole &&= i > 0 && n === 0 && i % 5 === 0
            continue
          }
          if (isGap) depacketizer.markLoss()
          isGap = false
          depacketizer.push(payload, 0, payload.length, i, n === payloads.length - 1)
        }
        arrived.set(i, isWhole && (i % 5 === 0 || arrived.get(i - 1) === true))
      }
      for (const item of seen) {
        if (typeof item === 'string') continue
        assert.equal(item.units.length, 2)
        assert.ok(arrived.get(item.timestamp), `frame ${item.timestamp} of ${lost}`)
      }
    }),
    { numRuns: 300 },
  )
})

test('new parameter sets in mid-stream report a new format, repeated ones do not', () => {
  const { send, times } = openDepacketizer()
  for (const [i, units] of [key(), key(), [largeSps, pps, slice(5, 9)], inter(), inter()].entries()) {
    send(packetizeH264(units), i)
  }
  assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, '1920x1080 avc1.42c028', 2, 3, 4])
})

test('a packet with start codes is split into NAL units', () => {
  const { seen, send, times } = openDepacketizer()
  const code = (zeros: number) => [...new Array(zeros).fill(0), 1]
  const unit = slice(5, 30)
  send([Uint8Array.from([...code(3), ...sps, ...code(2), ...pps, ...code(3), ...unit])], 0)
  send([Uint8Array.from([...code(2), ...slice(1, 9)])], 1)
  send(inter(), 2)
  assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, 2])
  assert.deepEqual(seen[1], { isKey: true, timestamp: 0, units: [unit] })
})

/** The fragments of a NAL unit (FU-A), cut at these shares of it. Equal ones give a fragment of headers alone. */
function fragment(unit: Uint8Array, shares: readonly number[]): Uint8Array[] {
  const cuts = shares.map((share) => 1 + Math.round(share * (unit.length - 1))).sort((a, b) => a - b)
  const ends = [...cuts, unit.length]
  return ends.map((end, i) => {
    const flags = (i === 0 ? 0x80 : 0) | (i === ends.length - 1 ? 0x40 : 0)
    return Uint8Array.of(
      (unit[0]! & 0xe0) | 28,
      flags | (unit[0]! & 0x1f),
      ...unit.subarray(i === 0 ? 1 : cuts[i - 1], end),
    )
  })
}

test('NAL units that are joined by start codes are split, in one packet and in fragments of any size', () => {
  const code = (zeros: number) => Uint8Array.from([...new Array(zeros).fill(0), 1])
  const joined = fc.record({
    slices: fc.array(fc.integer({ min: 3, max: 300 }), { minLength: 1, maxLength: 4 }),
    zeros: fc.array(fc.integer({ min: 2, max: 4 }), { minLength: 1, maxLength: 5 }),
    hasFirstCode: fc.boolean(),
    shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
    isWhole: fc.boolean(),
  })
  fc.assert(
    fc.property(joined, ({ slices, zeros, hasFirstCode, shares, isWhole }) => {
      const { seen, send, depacketizer } = openDepacketizer()
      const units = slices.map((bytes, i) => slice(5, bytes, i === 0))
      const bytes = [sps, pps, ...units].flatMap((unit, i) =>
        i > 0 || hasFirstCode ? [...code(zeros[i % zeros.length]!), ...unit] : [...unit],
      )
      for (const timestamp of [0, 1]) {
        const whole = Uint8Array.from(bytes)
        send(isWhole ? [whole] : fragment(whole, shares), timestamp)
      }
      send(inter(), 2)
      assert.deepEqual(
        seen.filter((each) => typeof each !== 'string').map((each) => each.units),
        [units, units, inter()],
      )
      assert.equal(depacketizer.counters.badPayloads + depacketizer.counters.droppedFrames, 0)
    }),
  )
})

test('fragments of headers alone are no loss, wherever they are; a NAL unit of a header alone is one', () => {
  for (const shares of [[0], [0, 0.5], [0.5, 0.5], [1], [0.5, 1, 1], [0, 0, 0.2, 0.2, 1]]) {
    const { seen, send, depacketizer } = openDepacketizer()
    const [first, second] = [slice(5, 300), slice(1, 300)]
    send([sps, pps, ...fragment(first, shares)], 0)
    send(fragment(second, shares), 1)
    assert.deepEqual(seen.slice(1), [
      { isKey: true, timestamp: 0, units: [first] },
      { isKey: false, timestamp: 1, units: [second] },
    ])
    assert.deepEqual(depacketizer.counters, { frames: 2, droppedFrames: 0, losses: 0, badPayloads: 0 })
    send(fragment(slice(1, 2).subarray(0, 1), shares), 2)
    send(inter(), 3)
    assert.equal(seen.length, 3)
    assert.equal(depacketizer.counters.badPayloads, 1)
  }
})

test('NAL units of types that decoders ignore are no loss, nor is what fills an aggregate', () => {
  const { seen, send, depacketizer } = openDepacketizer()
  const open = (type: number) => Uint8Array.of(type, 1, 2, 3)
  const aggregate = [24, ...[...key(), open(30)].flatMap((unit) => [0, unit.length, ...unit])]
  for (const [i, filling] of [[], [0], [0, 0], [0, 0, 0, 0, 0], [7, 7]].entries()) {
    send([open(0), open(30), open(0x60 | 31), Uint8Array.of(...aggregate, ...filling)], 10 * i)
    send([open(31), ...fragment(open(30), [0.5]), ...inter()], 10 * i + 1)
  }
  assert.deepEqual(
    seen.filter((each) => typeof each !== 'string').map(({ units }) => units),
    new Array(5).fill([[slice(5, 20)], inter()]).flat(),
  )
  assert.equal(depacketizer.counters.losses + depacketizer.counters.droppedFrames, 0)
})

test('two repeated sequence parameter sets with different ids are one format', () => {
  const { depacketizer, send, times } = openDepacketizer()
  // The same set with id 1: `ue(1)` replaces `ue(0)`, which moves the rest by two bits, so only the ids are valid.
  const second = Uint8Array.from(sps)
  second[4] = 0x5a
  for (let i = 0; i < 3; i++) send(packetizeH264([second, sps, pps, slice(5, 20)]), i)
  assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, 2])
  assert.equal(depacketizer.counters.badPayloads, 0)
})

test('sequence parameter sets beyond the limit of the configuration record are left out', () => {
  const configs: Uint8Array[] = []
  const depacketizer = new NalDepacketizer(h264Codec, {
    onFormat: ({ config }) => configs.push(config),
    onFrame() {},
  })
  // An id as an 11-bit Exp-Golomb code: `000001xxxxx` encodes 31 and up, so there are 5 zeros and 6 bits.
  const withId = (id: number) => {
    const code = (id + 1).toString(2)
    const bits = `${'0'.repeat(code.length - 1)}${code}${'10110'.repeat(8)}`
    return Uint8Array.of(...sps.subarray(0, 4), ...bits.match(/.{8}/g)!.map((byte) => parseInt(byte, 2)))
  }
  for (let id = 1; id < 40; id++) depacketizer.push(withId(id), 0, withId(id).length, 0, false)
  for (const unit of [...key(), slice(5, 9)]) depacketizer.push(unit, 0, unit.length, 1, false)
  depacketizer.push(inter()[0]!, 0, inter()[0]!.length, 2, false)
  assert.equal(configs.length, 1)
  assert.equal(parseAvcConfig(configs[0]!).sps.length, 31)
  assert.deepEqual(parseAvcConfig(configs[0]!).sps[0], sps)
})

test('packets of the interleaved mode are rejected and drop their group', () => {
  for (const type of [25, 26, 27, 29]) {
    const { depacketizer, send, times } = openDepacketizer()
    send(packetizeH264(key()), 0)
    send([Uint8Array.of(0x60 | type, 0, 0, 0, 5, 1, 2, 3)], 1)
    send(inter(), 2)
    send(packetizeH264(key()), 3)
    assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 3])
    assert.equal(depacketizer.counters.badPayloads, 1)
  }
})

test('an empty packet inside a frame drops the frame and is counted; after a frame it is padding', () => {
  const empty = new Uint8Array()
  const fragments = packetizeH264(inter(400), 100)
  const slices = [slice(1, 20), slice(1, 20, false), slice(1, 20, false)]
  const cases: [payloads: Uint8Array[], isLost: boolean][] = [
    [fragments.with(2, empty), true],
    [fragments.with(0, empty), true],
    [fragments.with(-1, empty), true],
    [slices.with(1, empty), true],
    [[...fragments.slice(0, -1), fragments.at(-1)!], false],
  ]
  for (const [payloads, isLost] of cases) {
    const { send, times, depacketizer } = openDepacketizer()
    send(key(), 0)
    send(inter(), 3600)
    send(payloads, 7200)
    send([empty], 7200, [])
    send(inter(), 10_800)
    send(key(), 14_400)
    send(inter(), 18_000)
    const expected = isLost ? [0, 3600, 14_400, 18_000] : [0, 3600, 7200, 10_800, 14_400, 18_000]
    assert.deepEqual(times().slice(1), expected)
    assert.equal(depacketizer.counters.droppedFrames, isLost ? 2 : 0)
  }
  // Some senders end each frame with an empty packet.
  const { send, times } = openDepacketizer()
  for (let i = 0; i < 5; i++) send([...(i === 0 ? key() : inter()), empty], i * 3600)
  assert.deepEqual(times().slice(1), [0, 3600, 7200, 10_800, 14_400])
})

test('a frame whose only packet is empty is counted as dropped, padding is not', () => {
  const { send, depacketizer, times } = openDepacketizer()
  send(key(), 0)
  send([new Uint8Array()], 3600)
  send(inter(), 7200)
  send([new Uint8Array()], 7200)
  send([new Uint8Array()], 10_800, [])
  send(inter(), 10_800)
  send([new Uint8Array()], 10_800)
  send(key(), 14_400)
  send(key(), 18_000)
  assert.deepEqual(times().slice(1), [0, 7200, 10_800, 14_400, 18_000])
  assert.equal(depacketizer.counters.droppedFrames, 1)
})

test('a frame with SEI or parameter sets and an empty slice packet is lost', () => {
  const message = Uint8Array.of(6, 1, 1, 0x80)
  for (const rest of [[message], [sps, pps]]) {
    const { send, depacketizer, times } = openDepacketizer()
    send(key(), 0)
    send([...rest, new Uint8Array()], 3600)
    send(inter(), 7200)
    send(key(), 10_800)
    assert.deepEqual(times().slice(1), [0, 10_800])
    assert.deepEqual([depacketizer.counters.droppedFrames, depacketizer.counters.losses], [2, 1])
  }
})

test('an end of sequence NAL unit without content has no effect', () => {
  const { depacketizer, send, times } = openDepacketizer()
  send([...packetizeH264(key()), Uint8Array.of(10)], 0)
  send([Uint8Array.of(0x18, 0, 1, 10, 0, 1, 9), ...inter()], 1)
  send(inter(), 2)
  send(inter(), 3)
  assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, 2, 3])
  assert.equal(depacketizer.counters.badPayloads, 0)
})

test('both fields of a frame are kept when each is marked, with one timestamp or two', () => {
  for (const step of [0, 0.5]) {
    const { send, times } = openDepacketizer()
    send(packetizeH264(key()), 0)
    for (let i = 1; i < 4; i++) {
      send(packetizeH264(inter()), i)
      send(packetizeH264(inter()), i + step)
    }
    send(packetizeH264(inter()), 4)
    assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, 1 + step, 2, 2 + step, 3, 3 + step, 4])
  }
})

test('senders that mark every packet or no packet lose nothing', () => {
  const units = (type: number) => [...(type === 5 ? [sps, pps] : []), slice(type, 40), slice(type, 40, false)]
  for (const marked of [[0, 1, 2, 3], []]) {
    const { seen, send, times } = openDepacketizer()
    for (const [i, type] of [5, 1, 5, 1, 1].entries()) send(units(type), i, marked)
    assert.deepEqual(times(), ['640x360 avc1.42c01e', 0, 1, 2, 3])
    for (const item of seen) if (typeof item !== 'string') assert.equal(item.units.length, 2)
  }
})

test('a frame over the size limit is dropped and the next group is delivered', () => {
  const seen: number[] = []
  const sink = { onFormat() {}, onFrame: (_: Uint8Array, timestamp: number) => void seen.push(timestamp) }
  const depacketizer = new NalDepacketizer(h264Codec, sink, { maxFrameBytes: 20_000 })
  const frames = [key(), key(30_000), inter(), key(), inter(), inter()]
  for (const [i, units] of frames.entries()) {
    const payloads = packetizeH264(units)
    for (const [n, payload] of payloads.entries()) {
      depacketizer.push(payload, 0, payload.length, i, n === payloads.length - 1)
    }
  }
  assert.deepEqual(seen, [0, 3, 4, 5])
})

test('random payloads never throw', () => {
  const payload = fc.tuple(fc.nat(255), fc.nat(255), fc.uint8Array({ maxLength: 30 }), fc.nat(3), fc.boolean())
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 30 }), (payloads) => {
      const { depacketizer } = openDepacketizer()
      for (const [first, second, rest, timestamp, isMarked] of payloads) {
        const bytes = Uint8Array.of(first, second, ...rest)
        depacketizer.push(bytes, 0, bytes.length, timestamp, isMarked)
      }
    }),
    { numRuns: 500 },
  )
})

test('a byte stream is split at its start codes', () => {
  const stream = bytesOf(`00000001${'67aa'}000001${'68bb00'}00000001${'65cc'}`)
  assert.deepEqual(
    listAnnexBNalUnits(stream).map((unit) => [...unit]),
    [
      [0x67, 0xaa],
      [0x68, 0xbb],
      [0x65, 0xcc],
    ],
  )
  const units = [sps, pps]
  assert.deepEqual(listLengthPrefixedNalUnits(writeLengthPrefixedNalUnits(units)), units)
})
