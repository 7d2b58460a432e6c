import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSdp } from '../../media/sdp/parse-sdp.ts'
import { planStreams } from './stream-plan.ts'

const video = 'm=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\n'
const plan = (...media: string[]) => planStreams(parseSdp(`v=0\n${media.join('')}`))
const audio = (rtpmap: string, fmtp = '') =>
  `m=audio 0 RTP/AVP 97\na=rtpmap:97 ${rtpmap}\n${fmtp && `a=fmtp:97 ${fmtp}\n`}`
const aac = audio('mpeg4-generic/44100/2', 'sizelength=13; indexlength=3; indexdeltalength=3; config=1210')

test('the first supported video track is chosen by any of its names', () => {
  for (const [name, codec] of [
    ['h264', 'h264'],
    ['H265', 'h265'],
    ['HEVC', 'h265'],
  ] as const) {
    assert.equal(plan(`m=video 0 RTP/AVP 99\na=rtpmap:99 ${name}/90000\n`).video.codec, codec)
  }
  const { video: jpeg } = plan('m=video 0 RTP/AVP 26\na=framesize:26 2592-1944\n', video)
  assert.deepEqual([jpeg.codec, jpeg.payloadType, jpeg.size], ['mjpeg', 26, { width: 2592, height: 1944 }])
  assert.deepEqual(plan('m=video 0 RTP/AVP 26\na=x-dimensions:3840,2160\n').video.size, { width: 3840, height: 2160 })
  const several = plan('m=video 0 RTP/AVP 97 98\na=rtpmap:97 VP8/90000\na=rtpmap:98 H265/90000\n')
  assert.deepEqual([several.video.codec, several.video.payloadType], ['h265', 98])
})

test('parameter sets are read from the parameters of each codec, and interleaved packets are refused', () => {
  const h265 = plan(
    'm=video 0 RTP/AVP 96\na=rtpmap:96 H265/90000\na=fmtp:96 sprop-vps=QAE=; sprop-sps=QgE=; sprop-pps=RAE=\n',
  )
  assert.deepEqual(
    h265.video.parameterSets.map(([first]) => first),
    [0x40, 0x42, 0x44],
  )
  for (const [name, parameter] of [
    ['H264', 'packetization-mode=2'],
    ['H265', 'sprop-max-don-diff=4'],
  ]) {
    assert.throws(
      () => plan(`m=video 0 RTP/AVP 96\na=rtpmap:96 ${name}/90000\na=fmtp:96 ${parameter}\n`),
      /interleaved/,
    )
  }
})

test('an unsupported codec is named as in the settings of cameras', () => {
  assert.throws(
    () => plan('m=video 0 RTP/AVP 96\na=rtpmap:96 MP4V-ES/90000\n'),
    /sends MPEG-4 Visual video, which is not supported: set this stream to H\.264, H\.265 or MJPEG in the camera/,
  )
  // PostgreSQL would never store the status of such a camera.
  assert.throws(() => plan('m=video 0 RTP/AVP 96\na=rtpmap:96 V\0P\x078/90000\n'), /sends V\?P\?8 video/)
})

test('the microphone is chosen, and not the loudspeaker, whoever the direction belongs to', () => {
  // Hikvision and Dahua state the direction of the client (ONVIF Streaming 5.3), others that of the camera.
  const loudspeaker = 'm=audio 0 RTP/AVP 8\na=control:speaker\n'
  const chosen = (...directions: readonly [video: string, audio: string, speaker?: string]) => {
    const [ofVideo, ofAudio, ofSpeaker] = directions.map((each) => (each === '' ? '' : `a=${each}\n`))
    const microphone = `${aac}a=control:microphone\n${ofAudio}`
    const speaker = ofSpeaker === undefined ? [] : [`${loudspeaker}${ofSpeaker}`]
    const orders = [
      [microphone, ...speaker],
      [...speaker, microphone],
    ]
    const controls = new Set(orders.map((media) => plan(`${video}${ofVideo}`, ...media).audio?.control))
    assert.equal(controls.size, 1)
    return [...controls][0]
  }
  assert.equal(chosen('recvonly', 'recvonly'), 'microphone')
  assert.equal(chosen('', 'recvonly'), 'microphone')
  assert.equal(chosen('sendonly', 'sendonly'), 'microphone')
  assert.equal(chosen('', 'sendonly'), 'microphone')
  assert.equal(chosen('recvonly', 'recvonly', 'sendonly'), 'microphone')
  assert.equal(chosen('recvonly', '', 'sendonly'), 'microphone')
  assert.equal(chosen('', '', 'sendonly'), 'microphone')
  assert.equal(chosen('', 'recvonly', 'sendonly'), 'microphone')
  assert.equal(chosen('sendonly', 'sendonly', 'recvonly'), 'microphone')
  assert.equal(chosen('', 'inactive'), undefined)
  assert.equal(plan(`${video}a=recvonly\n`, `${loudspeaker}a=sendonly\n`).audio, undefined)
})

test('encrypted streams are refused at once', () => {
  const secret = video.replace('RTP/AVP', 'RTP/SAVP')
  assert.throws(() => plan(secret), /encrypted \(SRTP\), which is not supported/)
  assert.equal(plan(secret, video).video.codec, 'h264')
  assert.match(plan(video, aac.replace('RTP/AVP', 'RTP/SAVPF')).audioProblem!, /encrypted \(SRTP\)/)
})

test('audio that players support is passed through, and other audio is transcoded to AAC', () => {
  const formatOf = (...media: string[]) => {
    const { audio, audioProblem } = plan(video, ...media)
    return audio ? [audio.format.codec, audio.format.sampleRate, audio.coding.kind, audio.clockRate] : audioProblem
  }
  assert.deepEqual(formatOf(aac), ['aac', 44_100, 'aac', 44_100])
  assert.deepEqual(formatOf(audio('opus/48000/2')), ['opus', 48_000, 'opus', 48_000])
  for (const name of ['PCMU/8000', 'pcma/8000/1', 'G726-32/8000', 'AAL2-G726-40/8000']) {
    assert.deepEqual(formatOf(audio(name)), ['aac', 16_000, 'telephone', 8000], name)
  }
  assert.deepEqual(formatOf('m=audio 0 RTP/AVP 0\n'), ['aac', 16_000, 'telephone', 8000])
  assert.deepEqual(formatOf(audio('PCMA/16000')), ['aac', 16_000, 'telephone', 16_000])
  assert.deepEqual(
    formatOf('m=audio 0 RTP/AVP 8\n', aac),
    ['aac', 44_100, 'aac', 44_100],
    'audio that needs no transcoding is preferred',
  )
  assert.match(`${formatOf(audio('PCMU/8000/2'))}`, /PCMU audio of 8000 Hz × 2 is not supported/)
  assert.match(`${formatOf(audio('SPEEX/16000'))}`, /SPEEX audio is not supported/)
  assert.match(`${formatOf(audio('mpeg4-generic/44100', 'sizelength=13'))}`, /the configuration is too short/)
  assert.equal(formatOf(), undefined)
})
