// Cameras with sessions of their own kind: addresses, descriptions, logins, signs of life. Each as its owner or a
// client's maintainers described it; the comment names where: a thread of the client's project on GitHub.

import assert from 'node:assert/strict'
import { findHeader } from '../../media/rtsp/message.ts'
import { videoSdp } from '../rtsp/scripted-camera.ts'
import { hastyClock } from '../session/watch-camera.ts'
import { describeWith, onlyAt, play, playOn, type Quirk } from './quirk.ts'

export const sessionQuirks: readonly Quirk[] = [
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
]
