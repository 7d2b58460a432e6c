// Cameras that send their packets in ways of their own: channels, transports, marks, timestamps, rubbish. As in
// session-quirks.ts the comment names where it was described.

import assert from 'node:assert/strict'
import { packetizeH264 } from '../../media/h264/packetizer.ts'
import { writeRtpPacket } from '../../media/rtp/rtp-header.ts'
import { writeInterleaved } from '../../media/rtsp/interleaved.ts'
import { findHeader } from '../../media/rtsp/message.ts'
import { samplePps, sampleSps, videoSdp } from '../rtsp/scripted-camera.ts'
import { answerSetup, play, type Quirk, sent } from './quirk.ts'

export const packetQuirks: readonly Quirk[] = [
  {
    // gortsplib issue 72: the log of a session.
    camera: 'Streaming Server/2.9.0.0',
    symptom: 'other channels than those asked for',
    script: {
      answer: answerSetup('RTP/AVP/TCP;unicast;interleaved=4-5'),
      play: (sender) => {
        sender.channels = [4, 6]
        play(sender)
      },
    },
  },
  {
    // retina issue 120: the header as sent.
    camera: 'a webcam',
    symptom: 'transport parameters in another order, an SSRC of its own',
    script: { answer: answerSetup('RTP/AVP/TCP;ssrc=22345684;interleaved=0-1'), play },
  },
  {
    // retina issue 79: the first packets are of another SSRC than the one told.
    camera: 'a camera with 1080p at 15 frames/s',
    symptom: 'the SSRC in the answer to SETUP is not that of the packets',
    script: {
      answer: answerSetup('RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=0000A0C6'),
      play: (sender) => {
        sender.ssrc = 0x70000001
        play(sender)
      },
    },
  },
  {
    // gortsplib issue 456: with a packet dump.
    camera: 'cameras with /h264/ch1/main/av_stream',
    symptom: 'no Transport in the answer to SETUP',
    script: { answer: answerSetup(undefined), play },
  },
  {
    // gortsplib issue 142: the client then takes those it asked for.
    camera: 'an RTSP source of unknown make',
    symptom: 'no channels in the answer to SETUP',
    script: { answer: answerSetup('RTP/AVP/TCP;unicast'), play },
  },
  {
    // membrane_rtsp pull request 54 (Reolink), retina pull request 46 (v4l2rtspserver on a Xiaomi Dafang).
    camera: 'Reolink',
    symptom: 'packets before the answer to PLAY',
    script: { beforePlay: play },
  },
  {
    // ZoneMinder issue 3194: a packet dump, in which the four bytes of the frame come in a TCP segment of their own.
    camera: 'D-Link DCS-8526LH',
    symptom: 'a report before the answer to PLAY, its frame apart from its content',
    script: {
      beforePlay: (sender) => {
        sender.write(Uint8Array.of(0x24, 1, 0, 8))
        sender.write(Uint8Array.of(0x80, 201, 0, 1, 0, 0, 0, 7))
      },
      play,
    },
  },
  {
    // gortsplib pull request 653: a packet dump; VLC and FFmpeg skip them.
    camera: 'Canon VB-H47',
    symptom: 'bytes of nothing between packets',
    script: {
      play: (sender) => {
        for (let i = 0; i < sent; i++) {
          sender.picture(1_000_000 + i * 3600, i % 5 === 0)
          sender.write(Uint8Array.from({ length: 11 }, (_, n) => (n * 37 + i) % 0x24))
        }
      },
    },
    check: ({ stats }) => assert.ok(stats.badPackets > 0, 'they are counted'),
  },
  {
    // scrypted pull request 2137: bytes captured on three cameras.
    camera: 'Luma x20 (Customer RTSP Server/1.0.0)',
    symptom: 'a line of a single space in the head of the answer to PLAY',
    script: {
      answer: ({ method, headers }) =>
        method === 'PLAY'
          ? {
              text: `RTSP/1.0 200 OK\r\nServer: Customer RTSP Server/1.0.0\r\nCSeq: ${findHeader(headers, 'CSeq')}\r\nSession: 821724453759789\r\n \r\nRTP-Info: url=track1;seq=56350;rtptime=1000000\r\n\r\n`,
            }
          : undefined,
      play,
    },
  },
  {
    // retina issue 13: SPS with the marker and PPS at the timestamp of the picture before.
    camera: 'Reolink RLC-822A',
    symptom: 'parameter sets marked, and with the timestamp of the picture before',
    script: {
      play: (sender) => {
        for (let i = 0; i < sent; i++) {
          const timestamp = 1_000_000 + i * 3600
          if (i % 5 === 0) {
            sender.send(0, sender.packet(sampleSps['640x360'], timestamp - 3600, true))
            sender.send(0, sender.packet(samplePps, timestamp - 3600, false))
          }
          const slice = new Uint8Array(3000).fill(0x55)
          slice.set([0x60 | (i % 5 === 0 ? 5 : 1), 0x88])
          const payloads = packetizeH264([slice])
          for (const [n, payload] of payloads.entries()) {
            sender.send(0, sender.packet(payload, timestamp, n === payloads.length - 1))
          }
        }
      },
    },
  },
  {
    // retina issue 17, live555's change log of 2015-05-03: a new connection gets the packets of an old session.
    camera: 'Reolink (LIVE555 v2013.04.08)',
    symptom: 'packets of another session before and between our own',
    script: {
      greet: (socket) => socket.write(writeInterleaved(0, stalePacket(1))),
      play: (sender) => {
        for (let i = 0; i < sent; i++) {
          sender.picture(1_000_000 + i * 3600, i % 5 === 0)
          if (i < 10) sender.send(0, stalePacket(i + 2))
        }
      },
    },
    check: ({ stats }) => assert.ok(stats.foreignPackets > 0, 'they are counted'),
  },
  {
    // moonfire-nvr issue 192, retina issue 103: VLC 3 sends by datagrams only, and by multicast unless asked for
    // unicast.
    camera: 'VLC as a server (Raspberry Pi)',
    symptom: 'TCP refused, multicast unless unicast is asked for',
    script: {
      udp: 'only',
      answer: ({ method, headers }) =>
        method === 'SETUP' && !/unicast/.test(findHeader(headers, 'Transport') ?? '')
          ? { headers: [['Transport', 'RTP/AVP/UDP;destination=239.0.0.1;port=1234-1235;ttl=1']] }
          : undefined,
      play,
    },
  },
  {
    // smolrtsp issue 31.
    camera: 'OpenIPC (smolrtsp)',
    symptom: 'no server_port in the answer to SETUP',
    script: {
      udp: 'only',
      answer: (request) => {
        const transport = findHeader(request.headers, 'Transport') ?? ''
        return transport.includes('client_port') ? answerSetup(transport)(request) : undefined
      },
      play,
    },
  },
  {
    // gortsplib issue 56.
    camera: 'servers that announce changes',
    symptom: 'ANNOUNCE from the camera in the middle of the stream',
    script: {
      play: (sender) => {
        const body = videoSdp
        sender.write(
          `ANNOUNCE rtsp://c/ RTSP/1.0\r\nCSeq: 9\r\nContent-Type: application/sdp\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
        play(sender)
      },
    },
  },
  {
    // mediamtx pull request 6255: measured on two channels.
    camera: 'Intelbras DVR',
    symptom: 'single frames stamped hours away',
    script: {
      play: (sender) => {
        for (let i = 0; i < sent; i++) {
          const strayMs = i === 7 || i === 10 || i === 19 ? -9_800_000 : 0
          sender.picture(1_000_000_000 + i * 3600 + strayMs * 90, i % 5 === 0)
        }
      },
    },
    check: ({ stats }) => assert.deepEqual([stats.runs, stats.clockJumps], [1, 0]),
  },
]

function stalePacket(sequence: number): Uint8Array {
  const fields = { payloadType: 96, isMarked: true, sequence: 9000 + sequence, timestamp: 5, ssrc: 99 }
  return writeRtpPacket(fields, new Uint8Array(200).fill(0x41))
}
