import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { receiverReportBytes, writeEmptyReport, writeReceiverReport } from './receiver-report.ts'
import { convertRtpTime, readRtcp, type SenderReport } from './rtcp.ts'
import { SequenceTracker, TimestampUnwrapper } from './rtp-counters.ts'
import { createRtpHeader, readRtpHeader, writeRtpPacket } from './rtp-header.ts'

/** Values have the prototype of object literals. */
const plainRecord = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { noNullPrototype: true })

test('a written packet is read back at any offset', () => {
  const fields = plainRecord({
    payloadType: fc.nat(127),
    isMarked: fc.boolean(),
    sequence: fc.nat(0xffff),
    timestamp: fc.nat(0xffffffff),
    ssrc: fc.nat(0xffffffff),
  })
  fc.assert(
    fc.property(fields, fc.uint8Array({ maxLength: 50 }), fc.nat(20), (fields, payload, offset) => {
      const packet = writeRtpPacket(fields, payload)
      const bytes = new Uint8Array(packet.length + offset + 3)
      bytes.set(packet, offset)
      const header = createRtpHeader()
      assert.ok(readRtpHeader(bytes, offset, offset + packet.length, header))
      const { payloadStart, payloadEnd, extensionProfile: _, extensionStart: __, ...read } = header
      assert.deepEqual(read, fields)
      assert.deepEqual(bytes.slice(payloadStart, payloadEnd), payload)
    }),
  )
})

test('extension, contributing sources and padding are excluded from the payload', () => {
  const head = [0xb1, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 9, 9, 9, 9, 0xbe, 0xde, 0, 1, 8, 8, 8, 8]
  const bytes = Uint8Array.from([...head, 1, 2, 3, 0, 0, 3])
  const header = createRtpHeader()
  assert.ok(readRtpHeader(bytes, 0, bytes.length, header))
  assert.deepEqual([...bytes.slice(header.payloadStart, header.payloadEnd)], [1, 2, 3])
})

test('padding that is announced and not there is not taken away', () => {
  for (const last of [0, 4, 255]) {
    const bytes = Uint8Array.of(0xa0, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 7, 7, last)
    const header = createRtpHeader()
    assert.ok(readRtpHeader(bytes, 0, bytes.length, header))
    assert.deepEqual([...bytes.slice(header.payloadStart, header.payloadEnd)], [7, 7, last])
  }
})

test('random bytes are a packet within their bounds or rejected', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const header = createRtpHeader()
      if (!readRtpHeader(bytes, 0, bytes.length, header)) return
      assert.ok(12 <= header.payloadStart && header.payloadStart <= header.payloadEnd)
      assert.ok(header.payloadEnd <= bytes.length)
    }),
  )
})

test('timestamps continue across the wrap, forwards and backwards', () => {
  const unwrapper = new TimestampUnwrapper()
  const seen = [0xffff_fff0, 0x10, 0xffff_fff8, 0x8000_0000 - 10].map((value) => unwrapper.unwrap(value))
  assert.deepEqual(seen, [0xffff_fff0, 0x1_0000_0010, 0xffff_fff8, 0x1_8000_0000 - 10])
})

test('missing, duplicate and restarted sequence numbers are distinguished', () => {
  const tracker = new SequenceTracker()
  const seen = [65_534, 65_535, 0, 3, 3, 2, 4, 40_000, 40_001].map((sequence) => tracker.advance(sequence))
  assert.deepEqual(seen, [0, 0, 0, 2, -1, -1, 0, 1, 0])
  assert.equal(tracker.expected, 10)
  assert.equal(tracker.highest, 0x10000 + 40_001)
})

test('a receiver report has its stated length', () => {
  const bytes = writeReceiverReport({ ownSsrc: 1, senderSsrc: 2, lostPackets: 3, highestSequence: 4 })
  assert.equal(bytes.length, receiverReportBytes)
  const view = new DataView(bytes.buffer)
  assert.equal((view.getUint16(2) + 1) * 4 + (view.getUint16(34) + 1) * 4, bytes.length)
})

test('a receiver report contains the losses and the sender report it refers to', () => {
  const lastReport = { ntpMiddle: 0x12345678, agoMs: 1500 }
  const bytes = writeReceiverReport({
    ...{ ownSsrc: 1, senderSsrc: 2, fractionLost: 0.25, lostPackets: 300, highestSequence: 0x10004, lastReport },
  })
  const view = new DataView(bytes.buffer)
  assert.deepEqual([view.getUint8(12), view.getUint32(12) & 0xffffff, view.getUint32(16)], [64, 300, 0x10004])
  assert.deepEqual([view.getUint32(24), view.getUint32(28)], [0x12345678, 98_304])
})

function read(bytes: Uint8Array) {
  const reports: SenderReport[] = []
  const byes: number[] = []
  readRtcp(bytes, 0, bytes.length, {
    onSenderReport: (report) => reports.push(report),
    onBye: (ssrc) => byes.push(ssrc),
  })
  return { reports, byes }
}

test('a sender report and a BYE are found in a compound packet, and a truncated packet is skipped', () => {
  const compound = new Uint8Array(28 + 12 + 12)
  const view = new DataView(compound.buffer)
  view.setUint16(0, 0x80c8)
  view.setUint16(2, 6)
  for (const [i, value] of [7, 3_900_000_000, 0x80000000, 90_000].entries()) view.setUint32(4 + i * 4, value)
  view.setUint16(28, 0x81ca)
  view.setUint16(30, 2)
  view.setUint16(40, 0x82cb)
  view.setUint16(42, 2)
  view.setUint32(44, 7)
  view.setUint32(48, 8)
  const report = { ssrc: 7, ntpSeconds: 3_900_000_000, ntpFraction: 0x80000000, rtpTime: 90_000 }
  assert.deepEqual(read(compound), { reports: [report], byes: [7, 8] })
  assert.deepEqual(read(compound.subarray(0, 50)), { reports: [report], byes: [] })
  assert.deepEqual(read(writeEmptyReport(5)), { reports: [], byes: [] })
})

test('two streams of one sender are aligned by its clock across the wraps of all counters', () => {
  const video = { ssrc: 1, ntpSeconds: 3_900_000_000, ntpFraction: 0, rtpTime: 5 }
  const audio = { ssrc: 2, ntpSeconds: 3_899_999_998, ntpFraction: 0x80000000, rtpTime: 0xffff_ff00 }
  assert.equal(convertRtpTime(video, audio, 48_000), (0xffff_ff00 + 72_000) % 2 ** 32)
  assert.equal(convertRtpTime(video, { ...audio, ntpSeconds: 5 }, 48_000), undefined)
})

test('parsing random bytes as RTCP never reads beyond their end', () => {
  const start = fc.constantFrom([0x80, 200, 0, 6], [0x9f, 203, 0, 1], [0x81, 203, 0, 0], [])
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 80 }), (head, rest) => {
      read(Uint8Array.from([...head, ...rest]))
    }),
    { numRuns: 500 },
  )
})
