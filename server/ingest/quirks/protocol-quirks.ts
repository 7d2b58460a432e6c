// What no camera we can name was seen to do, but is easily got wrong, and is tolerated all the same.

import assert from 'node:assert/strict'
import { findHeader } from '../../media/rtsp/message.ts'
import { audioVideoSdp, videoSdp } from '../rtsp/scripted-camera.ts'
import { timesOf } from '../session/watch-camera.ts'
import { answerSetup, play, type Quirk, sent } from './quirk.ts'

export const protocolQuirks: readonly Quirk[] = [
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
    symptom: 'picture and audio on one channel',
    script: {
      sdp: audioVideoSdp,
      answer: answerSetup('RTP/AVP/TCP;unicast;interleaved=0-1'),
      play: (sender) => {
        sender.channels = [0, 0]
        sender.picture(1_000_000, true)
        sender.audio(0)
        for (let i = 1; i < sent; i++) sender.picture(1_000_000 + i * 3600, i % 5 === 0)
        sender.audio(48_000)
      },
    },
    check: ({ items }) => assert.ok(timesOf(items, 'audio').length > 0),
  },
]
