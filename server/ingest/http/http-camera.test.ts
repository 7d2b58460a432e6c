import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { generate } from 'selfsigned'
import {
  hastyClock,
  isLost,
  isOffline,
  kindsOf,
  timesOf,
  watchCamera,
} from '../../../test/support/ingest/watch-camera.ts'
import type { HubItem } from '../../hub/hub-item.ts'
import { parseAuthParameters } from '../../media/rtsp/challenge.ts'
import { createAddressGuard } from '../network/address-guard.ts'

/** A JPEG with the given size in its header and a tag in its data. */
function jpegOf(tag: number, width = 64, height = 48): Buffer {
  const head = [0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0]
  const data = Array.from({ length: 500 }, () => tag & 0x7f)
  return Buffer.from([...head, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, ...data, 0xff, 0xd9])
}

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void

async function openHttpCamera(handler: Handler, tls?: { key: string; cert: string }) {
  let count = 0
  const requests: IncomingMessage[] = []
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request)
    response.on('error', () => {})
    handler(request, response, ++count)
  }
  const server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http${tls ? 's' : ''}://127.0.0.1:${port}/mjpg/video.cgi?fps=25`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Sends a part every few milliseconds without end. */
function stream(response: ServerResponse, part: (index: number) => Buffer): void {
  let index = 0
  const timer = setInterval(() => response.write(part(index++)), 5)
  response.on('close', () => clearInterval(timer))
}

const framed = (jpeg: Buffer) =>
  Buffer.concat([Buffer.from(`--b\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`), jpeg])

const seen = (count: number) => (items: HubItem[]) => timesOf(items, 'video').length >= count

test('an endless stream of JPEGs becomes a run with times of arrival, and a new size begins a new run', async () => {
  await using camera = await openHttpCamera((_, response) => {
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary="--b"' })
    stream(response, (i) => framed(jpegOf(i, i < 10 ? 64 : 80)))
  })
  const { items, last, stats } = await watchCamera({ url: camera.url }, seen(20))
  assert.equal(kindsOf(items).filter((kind) => kind === 'start').length, 2)
  assert.ok(last?.state === 'online')
  assert.deepEqual([last.format.video.codec, last.format.video.width, last.format.audio], ['mjpeg', 80, undefined])
  const frames = items.flatMap((item) => (item.kind === 'video' ? [item] : []))
  assert.deepEqual(
    frames.slice(0, 20).map(({ data }) => Buffer.from(data)),
    Array.from({ length: 20 }, (_, i) => jpegOf(i, i < 10 ? 64 : 80)),
  )
  for (const [i, frame] of frames.entries()) {
    assert.ok(frame.isKey && frame.dts90k === frame.pts90k)
    assert.ok(i === 0 || frame.wallMs >= frames[i - 1]!.wallMs)
    assert.ok(Math.abs(frame.wallMs - Date.now()) < 60_000)
  }
  assert.deepEqual(timesOf(items, 'video')[0], 0)
  assert.deepEqual([stats.runs, stats.connections, stats.droppedFrames], [2, 1, 0])
  assert.deepEqual(items.at(-1), { kind: 'end', reason: 'stopped_by_user' })
  assert.equal(camera.requests[0]!.url, '/mjpg/video.cgi?fps=25')
})

test('frames are read over TLS with an unknown certificate', async () => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'camera' }])
  const handler: Handler = (_, response) => {
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=b' })
    stream(response, (i) => framed(jpegOf(i)))
  }
  await using camera = await openHttpCamera(handler, { key, cert })
  const { items } = await watchCamera({ url: camera.url }, seen(5))
  assert.ok(seen(5)(items))
})

test('a stream without types, lengths and boundaries is read', async () => {
  await using camera = await openHttpCamera((_, response) => stream(response, (i) => jpegOf(i)))
  const { items } = await watchCamera({ url: camera.url }, seen(5))
  assert.ok(seen(5)(items))
})

test('a single image is requested repeatedly, and an unchanged one is published at intervals', async () => {
  let tag = 0
  const conditions: (string | undefined)[] = []
  await using camera = await openHttpCamera((request, response, count) => {
    conditions.push(request.headers['if-none-match'])
    if (count === 4) return void response.writeHead(503).end()
    if (count > 5 && count < 30) {
      const isKnown = request.headers['if-none-match'] === `"${tag}"`
      return void response.writeHead(isKnown ? 304 : 200, { etag: `"${tag}"` }).end(isKnown ? '' : jpegOf(tag))
    }
    tag = count
    const headers = { 'content-type': 'image/jpeg', etag: `"${tag}"`, 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' }
    response.writeHead(200, headers).end(jpegOf(tag))
  })
  const { items, stats, statuses } = await watchCamera({ url: camera.url }, seen(8), { clock: hastyClock })
  const tags = items.flatMap((item) => (item.kind === 'video' ? [item.data.at(-3)] : []))
  assert.deepEqual(tags.slice(0, 4), [1, 2, 3, 5])
  assert.ok(tags.slice(4).every((seenTag) => seenTag === 5))
  assert.equal(stats.connections, 1)
  assert.deepEqual(
    statuses.map(({ state }) => state),
    ['connecting', 'online'],
  )
  assert.deepEqual(conditions.slice(0, 3), [undefined, '"1"', '"2"'])
  assert.ok(camera.requests.length > 8, 'more requests than published frames')
})

test('images that come at once are some milliseconds apart, and a stream that stops is reported as an outage', async () => {
  await using camera = await openHttpCamera((_, response) => {
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace' })
    response.write(Buffer.concat([0, 1, 2, 3, 4].map((i) => framed(jpegOf(i)))))
  })
  const { items, causes } = await watchCamera({ url: camera.url }, isLost, { clock: hastyClock })
  assert.deepEqual(items.at(-1), { kind: 'end', reason: 'no_frames' })
  const places = items.flatMap((item) => (item.kind === 'video' ? item.pts90k : []))
  assert.equal(places.length, 5)
  assert.ok(
    places.every((pts90k, i) => i === 0 || pts90k - places[i - 1]! >= 180),
    `${places}`,
  )
  assert.match(causes[0]!, /has sent no frames for 1\d s/)
})

test('a single image whose requests fail for too long is an outage', async () => {
  await using camera = await openHttpCamera((_, response, count) => {
    if (count === 1) response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpegOf(1))
    else response.writeHead(500).end()
  })
  const { items, causes } = await watchCamera({ url: camera.url }, isLost, { clock: hastyClock })
  assert.match(causes[0]!, /GET with the error 500/)
  assert.deepEqual(items.at(-1), { kind: 'end', reason: 'no_frames' })
})

test('a single image that is too large to be displayed is reported', async () => {
  await using camera = await openHttpCamera((_, response) => response.end(jpegOf(1, 65_535, 65_535)))
  const { items, causes } = await watchCamera({ url: camera.url }, isOffline, { clock: hastyClock })
  assert.deepEqual(timesOf(items, 'video'), [])
  assert.match(causes[0]!, /sent no readable JPEG within 75 s/)
})

const account = { username: 'root', password: 'pass word' }

test('Basic and Digest authentication succeed, and Digest covers the requested path', async () => {
  const hex = (text: string) => createHash('md5').update(text).digest('hex')
  const isDigest = (header = '') => {
    const { parameters } = parseAuthParameters(header) ?? {}
    const get = (name: string) => parameters?.get(name) ?? ''
    const middle = `${get('nonce')}:${get('nc')}:${get('cnonce')}:${get('qop')}`
    const path = '/mjpg/video.cgi?fps=25'
    return (
      get('uri') === path && get('response') === hex(`${hex('root:cam:pass word')}:${middle}:${hex(`GET:${path}`)}`)
    )
  }
  const logins = {
    'Basic realm="cam"': (header = '') => header === `Basic ${btoa('root:pass word')}`,
    'Digest realm="cam", nonce="n1", qop="auth", algorithm=MD5, Basic realm="cam"': isDigest,
  }
  for (const [challenge, isRight] of Object.entries(logins)) {
    await using camera = await openHttpCamera((request, response) => {
      if (!isRight(request.headers.authorization)) {
        return void response.writeHead(401, { 'www-authenticate': challenge }).end('<html>no</html>')
      }
      response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace' })
      stream(response, (i) => framed(jpegOf(i)))
    })
    const { items } = await watchCamera({ url: camera.url, ...account }, seen(3))
    assert.ok(seen(3)(items), challenge)
    const wrong = await watchCamera({ url: camera.url, ...account, password: 'no' }, isOffline)
    assert.ok(wrong.last?.state === 'offline' && wrong.last.reason === 'auth_failed')
    assert.ok(camera.requests.length <= 4, 'a wrong password is sent once')
  }
})

const complaints: { readonly [what: string]: readonly [Handler, reason: string, detail: RegExp] } = {
  'a redirect is not followed': [
    (request, response) =>
      void response.writeHead(302, { location: `http://${request.headers.host}/other` }).end('moved'),
    'no_frames',
    /redirects.*not followed/,
  ],
  'a page is reported as not a stream': [
    (_, response) => void response.writeHead(200, { 'content-type': 'text/html; charset=x' }).end('<html>'),
    'no_frames',
    /a page \(text\/html\)/,
  ],
  'another kind of stream is named': [
    (_, response) => void response.writeHead(200, { 'content-type': 'video/mp4' }).end(),
    'no_frames',
    /something \(video\/mp4\) that contains no images/,
  ],
  'an unknown path is reported': [(_, response) => void response.writeHead(404).end(), 'no_frames', /404.*path/],
  'missing credentials are reported': [
    (_, response) => void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(),
    'auth_failed',
    /requires a username/,
  ],
  'a response without an image is reported': [
    (_, response) => void response.writeHead(200, { 'content-type': 'image/jpeg' }).end('no image'),
    'no_frames',
    /without an image/,
  ],
  'a stream that ends is reported as a lost connection': [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace' })
      response.end(Buffer.concat([framed(jpegOf(1)), framed(jpegOf(2))]))
    },
    'camera_unreachable',
    /closed the connection/,
  ],
  'a stream without frames is reported': [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace' })
      stream(response, () => Buffer.from('--b\r\nContent-Type: text/plain\r\n\r\nnothing to see\r\n'))
    },
    'no_frames',
    /sent no frames within 10 s/,
  ],
  'images that would need gigabytes of memory are rejected': [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace' })
      stream(response, (i) => framed(jpegOf(i, 65_000, 65_000)))
    },
    'no_frames',
    /no readable JPEG within 75 s/,
  ],
  'invalid images are reported': [
    (_, response) => {
      response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace' })
      stream(response, () => framed(Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2, 1, 2, 3, 0xff, 0xd9])))
    },
    'no_frames',
    /no readable JPEG within 75 s/,
  ],
  'a camera that does not answer is reported': [() => {}, 'camera_unreachable', /did not answer within 10 s/],
}

for (const [what, [handler, reason, detail]] of Object.entries(complaints)) {
  test(what, async () => {
    const isSilent = /did not answer/.test(detail.source)
    await using camera = await openHttpCamera(handler)
    const { last } = await watchCamera({ url: camera.url }, isOffline, {
      clock: hastyClock,
      limits: isSilent ? { responseMs: 10_000 } : {},
    })
    assert.ok(last?.state === 'offline')
    assert.equal(last.reason, reason)
    assert.match(last.detail, detail)
    assert.ok(camera.requests.every(({ url }) => url !== '/other'))
  })
}

test('a response other than HTTP, a refused connection and a forbidden IP address are reported', async () => {
  const greet = createTcpServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.end('SSH-2.0-secret_banner\r\n')
  })
  greet.listen(0, '127.0.0.1')
  await once(greet, 'listening')
  const { port } = greet.address() as { port: number }
  const { last } = await watchCamera({ url: `http://127.0.0.1:${port}/` }, isOffline)
  assert.ok(last?.state === 'offline' && last.reason === 'no_frames')
  assert.equal(last.detail, 'The camera answered with something other than HTTP: check the port of the URL.')
  greet.close()
  const refused = await watchCamera({ url: 'http://127.0.0.1:1/' }, isOffline)
  assert.ok(refused.last?.state === 'offline' && /refused the connection/.test(refused.last.detail))
  const guarded = { addressGuard: createAddressGuard({ allowLoopback: false }) }
  const forbidden = await watchCamera({ url: 'http://127.0.0.1:1/' }, isOffline, guarded)
  assert.ok(forbidden.last?.state === 'offline' && /not allowed/.test(forbidden.last.detail))
})

test('the host name is resolved once, and the connection goes to the tested IP address', async () => {
  await using camera = await openHttpCamera((_, response) => {
    response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpegOf(1))
  })
  const lookups: string[] = []
  const url = camera.url.replace('127.0.0.1', 'camera.invalid')
  const lookupAll = async (host: string) => {
    lookups.push(host)
    return [{ address: '127.0.0.1', family: 4 }]
  }
  const addressGuard = createAddressGuard({ allowLoopback: true, lookupAll })
  await watchCamera({ url }, seen(3), { clock: hastyClock, addressGuard })
  assert.deepEqual(lookups, ['camera.invalid'])
  assert.ok(camera.requests.length >= 2)
  assert.match(camera.requests[0]!.headers.host!, /^camera\.invalid:\d+$/)
})

test('usernames and realms in any script are hashed and sent as the same bytes', async () => {
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  for (const [username, realm] of [
    ['日本', 'camera'],
    ['Jürgen', 'Haustür'],
  ] as const) {
    await using camera = await openHttpCamera((request, response) => {
      const sent = Buffer.from(request.headers.authorization ?? '', 'latin1').toString()
      const { parameters } = parseAuthParameters(sent) ?? { parameters: new Map<string, string>() }
      const wanted = md5(`${md5(`${username}:${realm}:geheim`)}:n:${md5(`GET:${request.url}`)}`)
      const isRight = parameters.get('username') === username && parameters.get('response') === wanted
      if (isRight) return void response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpegOf(1))
      const challenge = Buffer.from(`Digest realm="${realm}", nonce="n"`).toString('latin1')
      response.writeHead(401, { 'www-authenticate': challenge }).end()
    })
    const { items } = await watchCamera({ url: camera.url, username, password: 'geheim' }, seen(1))
    assert.ok(seen(1)(items), username)
  }
})

test('a connection that ends as soon as its image has arrived affects nothing else', async () => {
  await using camera = await openHttpCamera((request, response) => {
    if (request.headers.authorization === undefined)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpegOf(1))
  })
  for (let i = 0; i < 5; i++) {
    const { last } = await watchCamera({ url: camera.url, username: 'u', password: 'p' }, seen(1))
    assert.equal(last?.state, 'online')
  }
})

for (const [line, source] of [
  ['Tue, 12 Jun 2012 01:56:34 GMT', 'a line without a name (GoaHead, home-assistant/core issue 14960)'],
  ['Have a nice day', 'a line without a colon'],
  ['Content-Length: -1', 'a length of -1'],
  ['Content-Length: unknown', 'a length that is no number'],
  ['Pragma : no-cache', 'a space behind a name'],
] as const) {
  for (const lineEnd of ['\r\n', '\n']) {
    test(`images are received behind a head with ${source}, lines ended with ${JSON.stringify(lineEnd)}`, async () => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => {
          const type = 'Content-Type: multipart/x-mixed-replace; boundary=b'
          const head = ['HTTP/1.1 200 OK', line, 'Server: GoaHead', type, '', ''].join(lineEnd)
          // Also when the head does not come at once.
          socket.write(head.slice(0, 30))
          setTimeout(() => socket.write(head.slice(30)), 20)
          const timer = setInterval(() => socket.write(framed(jpegOf(1))), 30)
          socket.on('close', () => clearInterval(timer))
        })
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      try {
        const { port } = server.address() as { port: number }
        const { items, stats } = await watchCamera({ url: `http://127.0.0.1:${port}/video` }, seen(5))
        assert.ok(timesOf(items, 'video').length >= 5)
        assert.deepEqual([stats.connections, stats.runs, [...stats.deviations]], [1, 1, ['head_lines']])
      } finally {
        server.close()
      }
    })
  }
}
