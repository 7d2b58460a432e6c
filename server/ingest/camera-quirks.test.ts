// Cameras that do not do as the RFCs say, each as its owner or a client's maintainers described it. The comment names where: a thread
// of the client's project on GitHub. A camera passes when its pictures come, whole and in one run, unless its row says otherwise.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packetizeH264 } from '../media/h264/packetizer.ts'
import { writeRtpPacket } from '../media/rtp/rtp-header.ts'
import { writeInterleaved } from '../media/rtsp/interleaved.ts'
import { findHeader, type RtspRequest } from '../media/rtsp/message.ts'
import {
  audioVideoSdp,
  openScriptedCamera,
  type Script,
  type ScriptedAnswer,
  type Sender,
  samplePps,
  sampleSps,
  videoSdp,
} from './scripted-camera.ts'
import { hastyClock, timesOf, type Watched, watchCamera } from './watch-camera.ts'

type Quirk = {
  readonly camera: string
  readonly symptom: string
  readonly script: Script | (() => Script)
  readonly account?: { readonly username: string; readonly password: string }
  /** Hours pass in seconds: for what happens while a session lasts. */
  readonly isHasty?: boolean
  /** Pictures to wait for. */
  readonly pictures?: number
  readonly check?: (watched: Watched, requests: readonly string[]) => void
}

const sent = 25

/** Pictures each 40 ms of the camera's clock, sent at once; a key frame each 5. */
function play(sender: Sender): void {
  for (let i = 0; i < sent; i++) sender.picture(1_000_000 + i * 3600, i % 5 === 0)
}

/** Pictures at the pace of the hasty clock, until the connection ends. */
function playOn(sender: Sender): void {
  let i = 0
  const timer = setInterval(() => sender.picture(1_000_000 + i * 3600 * 20, i++ % 5 === 0), 20)
  sender.socket.on('close', () => clearInterval(timer))
}

const onlyAt = (expected: (url: string) => boolean, method: string) => (request: RtspRequest) =>
  request.method === method && !expected(request.url) ? { status: 404 } : undefined

const describeWith =
  (headers: (url: string) => [string, string][], sdp = videoSdp) =>
  (request: RtspRequest) =>
    request.method === 'DESCRIBE' ? { headers: headers(request.url), body: sdp } : undefined

const answerSetup =
  (transport: string | undefined) =>
  (request: RtspRequest): ScriptedAnswer | undefined =>
    request.method === 'SETUP'
      ? { headers: [['Session', '1'], ...(transport === undefined ? [] : ([['Transport', transport]] as const))] }
      : undefined

const quirks: readonly Quirk[] = [
  {
    // moonfire-nvr issue 356: an owner's report with the header as sent.
    camera: 'SV3C SV-B01POE',
    symptom: 'Content-Base without a scheme',
    script: {
      answer: (request) =>
        describeWith((url) => [['Content-Base', `${url.replace('rtsp://', '')}/`]])(request) ??
        onlyAt((url) => /^rtsp:\/\/127\.0\.0\.1:\d+\/live\/track1$/.test(url), 'SETUP')(request),
      play,
    },
  },
  {
    // retina issue 135: two unrelated apps, both described.
    camera: 'phones as RTSP servers',
    symptom: 'Content-Base without a scheme and without the path',
    script: {
      answer: (request) =>
        describeWith((url) => [['Content-Base', `${new URL(url).host}/`]])(request) ??
        onlyAt((url) => /^rtsp:\/\/127\.0\.0\.1:\d+\/track1$/.test(url), 'SETUP')(request),
      play,
    },
  },
  {
    // retina issues 9 and 10: no control of the session, no RTP-Info, and no base.
    camera: 'VStarcam',
    symptom: 'no control for the session, no base, no RTP-Info',
    script: {
      answer: (request) =>
        describeWith(() => [], videoSdp.replace('track1', 'track0'))(request) ??
        onlyAt((url) => url.endsWith('/live/track0'), 'SETUP')(request) ??
        onlyAt((url) => url.endsWith('/live'), 'PLAY')(request),
      play,
    },
  },
  {
    // retina issue 42: what the description says of the parameter sets is no NAL unit.
    camera: 'VStarcam',
    symptom: 'broken sprop-parameter-sets, right ones in the stream',
    script: {
      sdp: videoSdp.replace('packetization-mode=1', 'packetization-mode=1;sprop-parameter-sets=6QAAAA==,/w=='),
      play,
    },
  },
  {
    // homebridge-foscamcamera issue 6: the log of a session.
    camera: 'Foscam C1 (Hisilicon Streaming Media Server)',
    symptom: 'answers with a CSeq that is one behind',
    script: {
      answer: (request) => {
        const cseq = Number(findHeader(request.headers, 'CSeq')) - 1
        const extra: Record<string, string> = {
          OPTIONS: 'Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n',
          SETUP: `Session: 5\r\nTransport: ${findHeader(request.headers, 'Transport')}\r\n`,
        }
        const body = request.method === 'DESCRIBE' ? videoSdp : ''
        return {
          text: `RTSP/1.0 200 OK\r\nCseq: ${cseq}\r\n${extra[request.method] ?? ''}Content-Length: ${body.length}\r\n\r\n${body}`,
        }
      },
      play,
    },
  },
  {
    // retina issue 133: probed with a socket. Sessions last 15 s, and SET_PARAMETER, though listed, is refused.
    camera: 'C520WS',
    symptom: 'a session of 15 s, and a listed keep-alive that is refused with the CSeq before',
    isHasty: true,
    pictures: 60,
    script: {
      answer: ({ method, headers }) => {
        if (method === 'OPTIONS') return { headers: [['Public', 'OPTIONS, DESCRIBE, SETUP, PLAY, SET_PARAMETER']] }
        if (method === 'SETUP') {
          return {
            headers: [
              ['Session', '1;timeout=15'],
              ['Transport', findHeader(headers, 'Transport') ?? ''],
            ],
          }
        }
        if (method !== 'SET_PARAMETER') return undefined
        return { text: `RTSP/1.0 400 Bad Request\r\nCSeq: ${Number(findHeader(headers, 'CSeq')) - 1}\r\n\r\n` }
      },
      play: playOn,
    },
    check: ({ stats }, requests) => {
      assert.equal(stats.connections, 1)
      assert.ok(requests.filter((request) => request.startsWith('OPTIONS')).length > 2)
    },
  },
  {
    // SharpRTSP issue 63: GET_PARAMETER is never answered, OPTIONS is what VLC keeps it alive with.
    camera: 'Hipcam RealServer/V1.0',
    symptom: 'keep-alive only by OPTIONS',
    isHasty: true,
    pictures: 130,
    script: () => {
      let aliveMs = 0
      return {
        answer: ({ method, headers }) => {
          if (method === 'GET_PARAMETER') return false
          if (method === 'OPTIONS' || method === 'PLAY') aliveMs = hastyClock.monotonicMs()
          if (method !== 'SETUP') return undefined
          return {
            headers: [
              ['Session', '1;timeout=30'],
              ['Transport', findHeader(headers, 'Transport') ?? ''],
            ],
          }
        },
        play: (sender) => {
          playOn(sender)
          const timer = setInterval(() => {
            if (hastyClock.monotonicMs() - aliveMs > 40_000) sender.socket.destroy()
          }, 20)
          sender.socket.on('close', () => clearInterval(timer))
        },
      }
    },
    check: ({ stats }) => assert.equal(stats.connections, 1),
  },
  {
    // html5_rtsp_player issue 73: OPTIONS does not count, GET_PARAMETER is known though not listed.
    camera: 'EvoStream',
    symptom: 'keep-alive only by a method that is not listed',
    isHasty: true,
    pictures: 220,
    script: () => {
      let aliveMs = 0
      return {
        answer: ({ method, headers }) => {
          if (method === 'OPTIONS') return { headers: [['Public', 'DESCRIBE, OPTIONS, PAUSE, PLAY, SETUP, TEARDOWN']] }
          if (method === 'GET_PARAMETER' || method === 'PLAY') aliveMs = hastyClock.monotonicMs()
          if (method !== 'SETUP') return undefined
          return {
            headers: [
              ['Session', '1;timeout=30'],
              ['Transport', findHeader(headers, 'Transport') ?? ''],
            ],
          }
        },
        play: (sender) => {
          playOn(sender)
          const timer = setInterval(() => {
            if (hastyClock.monotonicMs() - aliveMs > 30_000) sender.socket.destroy()
          }, 20)
          sender.socket.on('close', () => clearInterval(timer))
        },
      }
    },
    check: ({ stats }) => assert.equal(stats.connections, 2, 'the first session is lost, the second is kept alive'),
  },
  {
    // SharpRTSP issue 126: a keep-alive is answered with 401 and a new nonce after 150 s.
    camera: 'Axis M5525',
    symptom: 'login to be renewed in the middle of a session',
    isHasty: true,
    pictures: 130,
    account: { username: 'root', password: 'pass' },
    script: () => {
      let nonce = 1
      let sinceMs = hastyClock.monotonicMs()
      return {
        answer: ({ headers }) => {
          if (hastyClock.monotonicMs() - sinceMs > 30_000) {
            sinceMs = hastyClock.monotonicMs()
            nonce++
          }
          if (findHeader(headers, 'Authorization')?.includes(`nonce="${nonce}"`)) return undefined
          return { status: 401, headers: [['WWW-Authenticate', `Digest realm="AXIS", nonce="${nonce}"`]] }
        },
        play: playOn,
      }
    },
    check: ({ stats }) => assert.equal(stats.connections, 1),
  },
  {
    // cameradar issue 199: the log of a session.
    camera: 'Hanwha (iPOLiS)',
    symptom: 'Digest without qop, algorithm and opaque',
    account: { username: 'admin', password: 'pass' },
    script: {
      answer: ({ headers }) => {
        const login = findHeader(headers, 'Authorization')
        const isRight = login !== undefined && !login.includes('qop') && /response="[0-9a-f]{32}"/.test(login)
        return isRight
          ? undefined
          : { status: 401, headers: [['WWW-Authenticate', 'Digest realm="iPOLiS", nonce="3E6D"']] }
      },
      play,
    },
  },
  {
    // go2rtc issue 1663: the description as sent, lines o= and c= cut short.
    camera: 'H3C (VCP IPC Realtime stream)',
    symptom: 'absolute control URLs, cut lines in the description',
    script: {
      answer: (request) =>
        describeWith(
          () => [],
          `v=0\no=- 1001 1 IN\ns=VCP IPC Realtime stream\nm=video 0 RTP/AVP 96\nc=IN\na=control:rtsp://127.0.0.1/media/video1/video\na=rtpmap:96 H264/90000\na=fmtp:96 profile-level-id=640032; packetization-mode=1\na=recvonly\nm=application 0 RTP/AVP 107\nc=IN\na=control:rtsp://127.0.0.1/media/video1/metadata\na=rtpmap:107 vnd.onvif.metadata/90000\n`,
        )(request) ?? onlyAt((url) => url === 'rtsp://127.0.0.1/media/video1/video', 'SETUP')(request),
      play,
    },
  },
  {
    // go2rtc issues 679 and 2245: two owners with the same 69 bytes.
    camera: 'cameras with "stream_main"',
    symptom: 'a description that begins with m=',
    script: { sdp: 'm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:trackID=0\r\n', play },
  },
  {
    // go-sdp issue 5: formats of a third medium are no numbers.
    camera: 'TP-Link',
    symptom: 'a medium of its own kind in the description',
    script: {
      sdp: `${videoSdp}m=application/tp-link 0 RTP/AVP smart/0/25000\na=rtpmap:95 tp-link/25000\na=control:track3\n`,
      play,
    },
  },
  {
    // moonfire-nvr issue 213: a space behind the clock rate.
    camera: 'cameras with MEDIAINFO in the description',
    symptom: 'white space at the end of rtpmap',
    script: { sdp: videoSdp.replace('H264/90000', 'H264/90000 '), play },
  },
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
    // moonfire-nvr issue 192, retina issue 103: VLC 3 sends by datagrams only, and by multicast unless asked for unicast.
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
    // RtspClientSharp issue 110: the two requests compared.
    camera: 'Vivotek',
    symptom: 'the name of the track belongs behind the query',
    script: {
      answer: (request) =>
        describeWith((url) => [['Content-Base', `${url}?profile=Profile381b`]])(request) ??
        onlyAt((url) => url.endsWith('/live?profile=Profile381b/track1'), 'SETUP')(request),
      play,
    },
  },
  {
    // janus-gateway issue 1869: an absolute URL in front of the query.
    camera: 'Axis',
    symptom: 'the name of the track stands before the query',
    script: {
      answer: (request) =>
        describeWith(
          (url) => [['Content-Base', `${url}?videopsenabled=1`]],
          videoSdp.replace('track1', 'stream=1'),
        )(request) ?? onlyAt((url) => url.endsWith('/live/stream=1?videopsenabled=1'), 'SETUP')(request),
      play,
    },
  },
  {
    // OvenMediaEngine issue 1245: a base without its slash, of which a client by the RFC loses the last part.
    camera: 'Beward',
    symptom: 'Content-Base without a slash at its end',
    script: {
      answer: (request) =>
        describeWith((url) => [['Content-Base', url]], videoSdp.replace('track1', 'trackID=1'))(request) ??
        onlyAt((url) => url.endsWith('/live/trackID=1'), 'SETUP')(request),
      play,
    },
  },
  {
    // ZoneMinder pull request 608: `OPTIONS *` is a bad request.
    camera: 'Foscam 9821',
    symptom: 'OPTIONS only with the URL',
    script: { answer: ({ method, url }) => (method === 'OPTIONS' && url === '*' ? { status: 400 } : undefined), play },
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

/** Seen at no camera we can name, but easily got wrong: what is tolerated all the same. */
const oddities: readonly Quirk[] = [
  {
    camera: 'none we can name',
    symptom: 'packets on channels nobody agreed on',
    script: {
      play: (sender) => {
        sender.channels = [8, 10]
        play(sender)
      },
    },
  },
  {
    camera: 'none we can name',
    symptom: 'the rest of the description comes as if it were a message',
    script: {
      answer: ({ method, headers }) =>
        method === 'DESCRIBE'
          ? {
              text: `RTSP/1.0 200 OK\r\nCSeq: ${findHeader(headers, 'CSeq')}\r\nContent-Length: ${videoSdp.length}\r\n\r\n${videoSdp}a=tool:longer than told\r\n`,
            }
          : undefined,
      play,
    },
  },
  {
    camera: 'none we can name',
    symptom: 'the end of the description never comes',
    isHasty: true,
    script: {
      answer: ({ method, headers }) =>
        method === 'DESCRIBE'
          ? {
              text: `RTSP/1.0 200 OK\r\nCSeq: ${findHeader(headers, 'CSeq')}\r\nContent-Length: ${videoSdp.length + 100}\r\n\r\n${videoSdp}`,
            }
          : undefined,
      play,
    },
  },
  {
    camera: 'none we can name',
    symptom: 'picture and sound on one channel',
    script: {
      sdp: audioVideoSdp,
      answer: answerSetup('RTP/AVP/TCP;unicast;interleaved=0-1'),
      play: (sender) => {
        sender.channels = [0, 0]
        sender.picture(1_000_000, true)
        sender.sound(0)
        for (let i = 1; i < sent; i++) sender.picture(1_000_000 + i * 3600, i % 5 === 0)
        sender.sound(48_000)
      },
    },
    check: ({ items }) => assert.ok(timesOf(items, 'audio').length > 0),
  },
]

function stalePacket(sequence: number): Uint8Array {
  const fields = { payloadType: 96, isMarked: true, sequence: 9000 + sequence, timestamp: 5, ssrc: 99 }
  return writeRtpPacket(fields, new Uint8Array(200).fill(0x41))
}

for (const { camera, symptom, script, account, isHasty, pictures = sent - 1, check } of [...quirks, ...oddities]) {
  test(`${camera}: ${symptom}`, async () => {
    await using server = await openScriptedCamera(typeof script === 'function' ? script() : script)
    const watched = await watchCamera(
      { url: server.url, ...account },
      (items) => timesOf(items, 'video').length >= pictures,
      isHasty ? { clock: hastyClock } : {},
    )
    assert.ok(timesOf(watched.items, 'video').length >= pictures, JSON.stringify(watched.last))
    assert.equal(watched.stats.droppedFrames, 0)
    check?.(watched, server.requests)
    if (!check) assert.deepEqual([watched.stats.connections, watched.stats.runs], [1, 1])
  })
}
