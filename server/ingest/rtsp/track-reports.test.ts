import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeRtpPacket } from '../../media/rtp/rtp-header.ts'
import { createCameraStats } from '../frames/camera-stats.ts'
import { RtpReceiver } from '../frames/rtp-receiver.ts'
import { TrackReports } from './track-reports.ts'

test('a sender report without a time of day relates nothing to other tracks (RFC 3550 6.4.1)', () => {
  const receiver = new RtpReceiver(96, createCameraStats())
  const packet = writeRtpPacket(
    { payloadType: 96, isMarked: true, sequence: 1, timestamp: 900, ssrc: 7 },
    new Uint8Array(9),
  )
  assert.ok(receiver.take(packet, 0, packet.length))
  const reports = new TrackReports(receiver, 1, () => 0)
  const report = (ntpSeconds: number) => {
    const bytes = new Uint8Array(28)
    const view = new DataView(bytes.buffer)
    for (const [i, value] of [0x80c80006, 7, ntpSeconds, 5, 900].entries()) view.setUint32(i * 4, value)
    reports.take(bytes, 0, bytes.length)
    return reports.takeSender()
  }
  assert.equal(report(0), undefined)
  assert.equal(report(3_900_000_000)?.rtpTime, 900)
  assert.equal(report(0), undefined)
  assert.equal(reports.sender?.ntpSeconds, 3_900_000_000)
})
