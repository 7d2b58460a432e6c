import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { generate } from 'selfsigned'
import {
  audioVideoSdp,
  openScriptedCamera,
  type Script,
  type Sender,
} from '../../../test/support/ingest/scripted-camera.ts'
import {
  hastyClock,
  isLost,
  isOffline,
  kindsOf,
  timesOf,
  type WatchOptions,
  watchCamera,
} from '../../../test/support/ingest/watch-camera.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import { parseAuthParameters } from '../../media/rtsp/challenge.ts'
import { findHeader, type RtspRequest } from '../../media/rtsp/message.ts'
import { createAddressGuard } from '../network/address-guard.ts'

/** Sends frames at once that are 40 ms apart on the camera's clock, with a key frame every 5 frames. */
function sendFrames(sender: Sender, count: number, first = 1_000_000): void {
  for (let i = 0; i < count; i++) sender.sendFrame(first + i * 3600, i % 5 === 0)
}

test('a camera with audio becomes a run, and stopping ends the run and the session of the camera', async () => {
  await using camera = await openScriptedCamera({
    sdp: audioVideoSdp,
    answer: ({ method, url }) =>
      method === 'PLAY'
        ? { headers: [['RTP-Info', `url=${url}track1;rtptime=1000000,url=${url}track2;rtptime=48000`]] }
        : undefined,
    play: (sender) => {
      sendFrames(sender, 2)
      sender.audio(48_000 + 480)
      for (let i = 2; i < 6; i++) sender.sendFrame(1_000_000 + i * 3600, i === 5)
      sender.audio(48_000 + 480 + 2048)
      sender.sendFrame(1_000_000 + 6 * 3600, false)
    },
  })
  const { items, stats, last } = await watchCamera({ url: camera.url }, (items) => timesOf(items, 'video').length === 7)
  assert.deepEqual(timesOf(items, 'video'), [0, 3600, 7200, 10_800, 14_400, 18_000, 21_600])
  // Audio begins 10 ms into the stream with blocks of 1024 samples: four blocks of the camera, then silence up to the
  // end of the last frame.
  assert.deepEqual(
    timesOf(items, 'audio'),
    Array.from({ length: 13 }, (_, i) => 900 + i * 1920),
  )
  assert.equal(kindsOf(items)[0], 'start')
  assert.deepEqual(items.at(-1), { kind: 'end', reason: 'stopped_by_user' })
  assert.ok(last?.state === 'online' && last.format.audio?.codecString === 'mp4a.40.2')
  assert.deepEqual([last.format.video.width, last.format.video.codecString], [640, 'avc1.42c01e'])
  assert.deepEqual(
    camera.requests.map((request) => request.replace(camera.url, '')),
    ['OPTIONS ', 'DESCRIBE ', 'SETUP /track1', 'SETUP /track2', 'PLAY /', 'TEARDOWN /'],
  )
  assert.deepEqual(
    [stats.runs, stats.connections, stats.videoFrames, stats.audioFrames, stats.lostPackets],
    [1, 1, 7, 4, 0],
  )
  assert.ok(stats.receivedBytes > 21_000)
})

test('a camera that refuses its audio is recorded without audio', async () => {
  await using camera = await openScriptedCamera({
    sdp: audioVideoSdp,
    answer: ({ method, url }) => (method === 'SETUP' && url.endsWith('track2') ? { status: 455 } : undefined),
    play: (sender) => sendFrames(sender, 3),
  })
  const { items, last } = await watchCamera({ url: camera.url }, (items) => timesOf(items, 'video').length === 2)
  assert.equal(kindsOf(items)[1], 'key')
  assert.ok(last?.state === 'online' && last.format.audio === undefined)
})

test('a camera is read over TLS with an unknown certificate, and a TLS error is reported for a camera without TLS', async () => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'camera' }])
  await using camera = await openScriptedCamera({ tls: { key, cert }, play: (sender) => sendFrames(sender, 50) })
  const { items } = await watchCamera({ url: camera.url }, (items) => timesOf(items, 'video').length === 49)
  assert.equal(timesOf(items, 'video')[48], 48 * 3600)
  await using plain = await openScriptedCamera()
  const { last } = await watchCamera({ url: plain.url.replace('rtsp:', 'rtsps:') }, isOffline)
  assert.ok(last?.state === 'offline' && last.reason === 'camera_unreachable')
})

function digestScript(algorithm: 'MD5' | 'SHA-256', expireAfter = Number.POSITIVE_INFINITY): Script {
  const hex = (text: string) =>
    createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex')
  let nonce = 0
  let uses = 0
  const isRight = ({ method, url, headers }: RtspRequest) => {
    const { parameters } = parseAuthParameters(findHeader(headers, 'Authorization') ?? '') ?? {}
    const get = (name: string) => parameters?.get(name) ?? ''
    if (get('nonce') !== `n${nonce}` || get('uri') !== url) return false
    const middle = `${get('nonce')}:${get('nc')}:${get('cnonce')}:${get('qop')}`
    return get('response') === hex(`${hex('admin:cam:pass word')}:${middle}:${hex(`${method}:${url}`)}`)
  }
  return {
    answer: (request) => {
      if (isRight(request) && ++uses <= expireAfter) return undefined
      const stale = uses > expireAfter ? ', stale=TRUE' : ''
      uses = 0
      const challenge = `Digest realm="cam", nonce="n${++nonce}", qop="auth", algorithm=${algorithm}${stale}`
      return {
        status: 401,
        headers: [
          ['WWW-Authenticate', challenge],
          ['WWW-Authenticate', 'Basic realm="cam"'],
        ],
      }
    },
    play: (sender) => sendFrames(sender, 3),
  }
}

const account = { username: 'admin', password: 'pass word' }

for (const algorithm of ['MD5', 'SHA-256'] as const) {
  test(`Digest with ${algorithm} authentication succeeds, and an expired nonce is replaced`, async () => {
    for (const expireAfter of [Number.POSITIVE_INFINITY, 1]) {
      await using camera = await openScriptedCamera(digestScript(algorithm, expireAfter))
      const { items } = await watchCamera(
        { url: camera.url, ...account },
        (items) => timesOf(items, 'video').length === 2,
      )
      assert.deepEqual(kindsOf(items).slice(0, 3), ['start', 'key', 'video'])
    }
  })
}

test('Basic authentication succeeds if nothing else is offered', async () => {
  await using camera = await openScriptedCamera({
    answer: ({ headers }) =>
      findHeader(headers, 'Authorization') === `Basic ${btoa('admin:pass word')}`
        ? undefined
        : { status: 401, headers: [['WWW-Authenticate', 'Basic realm="cam"']] },
    play: (sender) => sendFrames(sender, 3),
  })
  const { items } = await watchCamera({ url: camera.url, ...account }, (items) => timesOf(items, 'video').length === 2)
  assert.equal(kindsOf(items)[0], 'start')
})

test('a wrong password is tried once per connection, and after the second refusal not for a minute', async () => {
  await using camera = await openScriptedCamera(digestScript('MD5'))
  const delays: number[] = []
  const sleep: Clock['sleep'] = (ms, signal) => {
    if (ms === 10_000) return systemClock.sleep(ms, signal)
    delays.push(ms)
    return Promise.resolve()
  }
  const { last } = await watchCamera(
    { url: camera.url, username: 'admin', password: 'wrong' },
    () => delays.length > 4,
    {
      clock: { ...systemClock, sleep },
      addressGuard: {
        resolve: async () => {
          if (delays.length > 4) throw new AppError('unavailable', 'enough')
          return { address: '127.0.0.1', family: 4, isPublic: false }
        },
      },
    },
  )
  assert.deepEqual(delays.slice(0, 5), [500, 60_000, 120_000, 240_000, 480_000])
  assert.ok(last?.state === 'offline')
  assert.equal(camera.requests.length, 10)
})

const complaints: [name: string, script: Script, reason: string, detail: RegExp][] = [
  [
    'an unknown path',
    { answer: ({ method }) => (method === 'DESCRIBE' ? { status: 404 } : undefined) },
    'no_frames',
    /404.*path/,
  ],
  [
    'a redirect',
    { answer: () => ({ status: 302, headers: [['Location', 'rtsp://10.0.0.1/']] }) },
    'no_frames',
    /not followed/,
  ],
  ['a missing login', { answer: () => ({ status: 401 }) }, 'auth_failed', /requires a username/],
  [
    'a stream neither over TCP nor over UDP',
    { answer: ({ method }) => (method === 'SETUP' ? { status: 461 } : undefined) },
    'no_frames',
    /461.*over TCP/,
  ],
  [
    'a stream over multicast only',
    {
      answer: ({ method }) =>
        method === 'SETUP' ? { headers: [['Transport', 'RTP/AVP;multicast;port=5000-5001']] } : undefined,
    },
    'no_frames',
    /multicast/,
  ],
  [
    'a redirect in the middle of the stream',
    { play: (sender) => sender.write('REDIRECT rtsp://c/ RTSP/1.0\r\nCSeq: 1\r\nLocation: rtsp://10.0.0.1/\r\n\r\n') },
    'no_frames',
    /REDIRECT.*not followed/,
  ],
  [
    'the end of the session',
    { play: (sender) => sender.write('TEARDOWN rtsp://c/ RTSP/1.0\r\nCSeq: 1\r\n\r\n') },
    'no_frames',
    /ended the session/,
  ],
  ['no video', { sdp: 'v=0\nm=audio 0 RTP/AVP 0\n' }, 'no_frames', /no video at this URL, only audio/],
  ['another codec', { sdp: 'v=0\nm=video 0 RTP/AVP 96\na=rtpmap:96 VP8/90000\n' }, 'no_frames', /VP8 video/],
  ['a page of HTML', { sdp: '<html>' }, 'no_frames', /description of the stream cannot be read/],
  [
    'a response other than RTSP',
    { greet: (socket) => socket.write(Buffer.from([0, 1, 2])) },
    'no_frames',
    /^The camera answered with something other than RTSP: check the port of the URL\.$/,
  ],
  [
    'the greeting of another service, which is not repeated',
    { greet: (socket) => socket.write('SSH-2.0-secret_banner\r\n\r\n') },
    'no_frames',
    /^The camera answered with something other than RTSP: check the port of the URL\.$/,
  ],
  [
    'a connection that is closed',
    { play: ({ socket }) => socket.end() },
    'camera_unreachable',
    /closed the connection/,
  ],
]

for (const [name, script, reason, detail] of complaints) {
  test(`${name} is reported so that the owner knows what to do`, async () => {
    await using camera = await openScriptedCamera(script)
    const { last, items } = await watchCamera({ url: camera.url }, isOffline)
    assert.ok(last?.state === 'offline')
    assert.equal(last.reason, reason)
    assert.match(last.detail, detail)
    assert.deepEqual(items, [])
  })
}

test('a refused connection, an unknown host, a forbidden IP address and an invalid URL are reported', async () => {
  const lookupAll = () => Promise.reject(new Error('ENOTFOUND'))
  const cases: [string, RegExp, WatchOptions][] = [
    ['rtsp://127.0.0.1:1/x', /refused the connection/, {}],
    ['rtsp://nowhere.invalid/x', /not known/, { addressGuard: createAddressGuard({ allowLoopback: true, lookupAll }) }],
    ['rtsp://127.0.0.1:1/x', /not allowed/, { addressGuard: createAddressGuard({ allowLoopback: false }) }],
    ['ftp://127.0.0.1/x', /looks like rtsp/, {}],
  ]
  for (const [url, detail, options] of cases) {
    const { last } = await watchCamera({ url }, isOffline, options)
    assert.ok(last?.state === 'offline' && last.reason === 'camera_unreachable')
    assert.match(last.detail, detail)
  }
})

test('after a loss the camera begins another run with later wall-clock times', async () => {
  let plays = 0
  await using camera = await openScriptedCamera({
    play: (sender) => {
      // Frames that come at once were taken before. These must not be those of the first connection.
      setTimeout(() => sendFrames(sender, 7), plays * 1000)
      if (++plays === 1) setTimeout(() => sender.socket.destroy(), 50)
    },
  })
  const { items, statuses, stats } = await watchCamera(
    { url: camera.url },
    (items) => timesOf(items, 'video').length === 14,
  )
  assert.deepEqual(kindsOf(items), [
    ...['start', 'key', 'video', 'video', 'video', 'video', 'key', 'video', 'end'],
    ...['start', 'key', 'video', 'video', 'video', 'video', 'key', 'video', 'end'],
  ])
  assert.deepEqual(items[8], { kind: 'end', reason: 'camera_unreachable' })
  assert.deepEqual(
    statuses.map(({ state }) => state),
    ['connecting', 'online', 'offline', 'online'],
  )
  const runs = items.flatMap((item) => (item.kind === 'start' ? item.runId : []))
  assert.equal(new Set(runs).size, 2)
  const walls = items.flatMap((item) => (item.kind === 'video' ? item.wallMs : []))
  assert.deepEqual(
    walls,
    walls.toSorted((a, b) => a - b),
  )
  assert.equal(stats.connections, 2)
})

test('a new resolution and a jump of the clock begin another run at a key frame without loss', async () => {
  await using camera = await openScriptedCamera({
    play: (sender) => {
      sendFrames(sender, 5)
      sender.sendFrame(1_000_000 + 5 * 3600, true, '1920x1080')
      sender.sendFrame(1_000_000 + 6 * 3600, false)
      // The clock jumps back by an hour in the middle of a group of pictures.
      sender.sendFrame(1_000_000 - 3600 * 90_000, false)
      for (let i = 1; i < 4; i++) sender.sendFrame(1_000_000 - 3600 * 90_000 + i * 3600, i === 2, '1920x1080')
    },
  })
  const { items, stats } = await watchCamera({ url: camera.url }, (items) => timesOf(items, 'video').length === 11)
  assert.deepEqual(kindsOf(items), [
    ...['start', 'key', 'video', 'video', 'video', 'video'],
    ...['start', 'key', 'video', 'video', 'video'],
    ...['start', 'key', 'video', 'end'],
  ])
  const sizes = items.flatMap((item) => (item.kind === 'start' ? item.format.video.width : []))
  assert.deepEqual(sizes, [640, 1920, 1920])
  assert.deepEqual([stats.runs, stats.videoFrames, stats.droppedFrames], [3, 11, 0])
  assert.equal(stats.clockJumps, 1)
})

test('a session is kept alive with a method that the camera supports, and a silent camera is reported', async () => {
  for (const publicMethods of ['OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER', 'OPTIONS, DESCRIBE, SETUP, PLAY']) {
    // Where a busy machine sends a frame a quarter of a second late, ten seconds or more have passed without one.
    const isBusy = (cause: string) => /for [12]\d s/.test(cause)
    await using camera = await openScriptedCamera({
      answer: ({ method }) => (method === 'OPTIONS' ? { headers: [['Public', publicMethods]] } : undefined),
      play: (sender) => {
        sendFrames(sender, 3)
        let sent = 3
        const timer = setInterval(() => {
          if (sent < 30) sender.sendFrame(1_000_000 + sent++ * 90_000 * 2, true)
          else clearInterval(timer)
        }, 50)
      },
    })
    const watch = async (attempt = 1): ReturnType<typeof watchCamera> => {
      camera.requests.length = 0
      const watched = await watchCamera({ url: camera.url }, isLost, { clock: hastyClock })
      return isBusy(watched.causes[0] ?? '') && attempt < 5 ? watch(attempt + 1) : watched
    }
    const { items, causes } = await watch()
    assert.match(causes[0]!, /has sent no frames for 3\d s/)
    assert.deepEqual(items.at(-1), { kind: 'end', reason: 'no_frames' })
    const method = publicMethods.includes('GET_PARAMETER') ? 'GET_PARAMETER' : 'OPTIONS'
    const afterPlay = camera.requests.slice(camera.requests.findIndex((request) => request.startsWith('PLAY')) + 1)
    assert.match(afterPlay.pop()!, /^TEARDOWN /, 'the session is ended with TEARDOWN')
    assert.ok(afterPlay.length >= 1)
    assert.ok(
      afterPlay.every((request) => request.startsWith(`${method} `)),
      afterPlay.join(),
    )
  }
})

test('a camera that never answers, sends nothing or sends no key frame is reported with its problem', async () => {
  let isPlaying = false
  const fallSilent = ({ method }: RtspRequest) => {
    if (isPlaying) return false
    isPlaying = method === 'PLAY'
    return undefined
  }
  const cases: [Script, string, RegExp][] = [
    [{ answer: () => false }, 'camera_unreachable', /did not answer OPTIONS within 10 s/],
    [{}, 'no_frames', /sent no frames within 30 s/],
    [{ answer: fallSilent }, 'no_frames', /sent no frames within 10 s/],
    [
      {
        play: (sender) => {
          const timer = setInterval(() => sender.sendFrame(performance.now() * 90, false), 20)
          sender.socket.on('close', () => clearInterval(timer))
        },
      },
      'no_frames',
      /no parameter sets within 75 s/,
    ],
  ]
  for (const [script, reason, detail] of cases) {
    await using camera = await openScriptedCamera(script)
    const { last } = await watchCamera({ url: camera.url }, isOffline, {
      clock: hastyClock,
      limits: script.answer ? { responseMs: 10_000 } : {},
    })
    assert.ok(last?.state === 'offline')
    assert.equal(last.reason, reason)
    assert.match(last.detail, detail)
  }
})

test('the reason for stopping is the reason of the end', async () => {
  await using camera = await openScriptedCamera({ play: (sender) => sendFrames(sender, 3) })
  const stop = new AbortController()
  const stopAtFrame = (items: HubItem[]) => {
    if (items.length > 1) stop.abort('server_down')
    return false
  }
  const { items } = await watchCamera({ url: camera.url }, stopAtFrame, { signal: stop.signal })
  assert.deepEqual(items.at(-1), { kind: 'end', reason: 'server_down' })
})
