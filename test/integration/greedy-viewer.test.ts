// A guest requests images endlessly, in hundreds of sizes and over hundreds of connections: few sizes are created, and
// other users' images are neither refused nor delayed behind all of the guest's. The delay of others is measured in
// images of the guest and not in time.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent, request } from 'node:https'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Camera } from '../../contract/camera.ts'
import { parseJpegHeader } from '../../server/media/jpeg/jpeg-header.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer, type ServerUnderTest } from '../server-under-test.ts'

const yard = { name: 'yard', width: 640, height: 360, framesPerSecond: 25, gopFrames: 25, loopSeconds: 4 }
const stream = { ...yard, hasAudio: false, bitsPerSecond: 400_000 }
/** Every frame is a key frame, so that no image can be reused for long. */
const quickStream = { ...stream, framesPerSecond: 20, gopFrames: 1, bitsPerSecond: 2_000_000, loopSeconds: 10 }

const connections = 240
/**
 * Images of the guest that may be created before one of the owner: those in both decoders and those in transit, which
 * are more on a busy machine.
 */
const mostBefore = connections / 2

test('only a few sizes are created when a guest requests recorded and live images of every width', async () => {
  await using camera = await openFakeCamera({ streams: [stream] })
  await using server = await openServer('--rate-limit', '0')
  using guest = await openGuest(server)
  using owner = openVisitor(server, server.token)
  const [id] = await addCameras(server, camera.url('yard'), ['Yard'])
  await share(server, id!)
  const { endMs } = await record(server, owner, id!)

  const ask = async (width: number, url: string): Promise<number> => {
    const { status, bytes } = await guest.get(url)
    assert.equal(status, 200)
    const header = parseJpegHeader(bytes)
    assert.ok(header.width <= width, `${header.width} of ${width}`)
    return header.width
  }
  const live = new Set<number>()
  const recorded = new Set<number>()
  for (let width = 20; width <= 480; width += 20) {
    live.add(await ask(width, (await guest.findCamera('shared-cameras', id!, { width })).live_snapshot))
  }
  assert.ok(live.size <= 10, `${live.size} live sizes`)
  for (let width = 20; width <= 480; width += 20) {
    recorded.add(await ask(width, (await guest.findImages('shared-cameras', id!, { width })) + momentOf(endMs)))
  }
  assert.ok(recorded.size <= 10, `${recorded.size} recorded sizes`)
})

test('a guest who requests recorded images of every moment and size over hundreds of connections does not block other users', async (t) => {
  await using camera = await openFakeCamera({ streams: [quickStream] })
  await using server = await openServer('--rate-limit', '0')
  using guest = await openGuest(server)
  using owner = openVisitor(server, server.token)
  const [shared, alone] = await addCameras(server, camera.url('yard'), ['Yard', 'Door'])
  await share(server, shared!)
  const own: string[] = []
  let endMs = 0
  for (const id of [shared!, alone!]) {
    const recorded = await record(server, owner, id)
    own.push(recorded.url)
    endMs = recorded.endMs
  }
  const urlSet = new Set<string>()
  for (const width of [64, 100, 128, 160, 240, 320, 480, 640]) {
    for (const height of [64, 90, 100, 120, 180, 240, 270, 360]) {
      urlSet.add(await guest.findImages('shared-cameras', shared!, { width, height }))
    }
  }
  const urls = [...urlSet]
  // All images of a second are requested once before any is requested again.
  const flood = guest.ask(
    (n) => urls[n % urls.length]! + momentOf(endMs - (Math.floor(n / urls.length) % 8) * 1000),
    (url) => url,
  )
  const before: number[] = []
  try {
    await eventually('the flood has begun', 60_000, async () => flood.made > 100)
    for (let i = 0; i < 12; i++) {
      const madeBefore = flood.made
      const { status } = await owner.get(own[i % 2]! + momentOf(endMs - (i >> 1) * 1000))
      assert.equal(status, 200, `the image ${i >> 1} s before, of ${i % 2 ? 'the other camera' : 'the same camera'}`)
      before.push(flood.made - madeBefore)
    }
  } finally {
    await flood.end()
  }
  assertFew(t, before)
})

test('a guest who requests live images of every width and camera over hundreds of connections does not block other users', async (t) => {
  await using camera = await openFakeCamera({ streams: [quickStream] })
  await using server = await openServer('--rate-limit', '0')
  using guest = await openGuest(server)
  using owner = openVisitor(server, server.token)
  const [alone, ...shared] = await addCameras(server, camera.url('yard'), ['Yard', 'Door', 'Garage', 'Attic'])
  for (const id of shared) await share(server, id)
  const own: string[] = []
  for (const id of [alone!, shared[0]!]) {
    const { live_snapshot: url } = await owner.findCamera('cameras', id, { width: 320 })
    await eventually('the camera is online', 30_000, async () => (await owner.get(url)).status === 200)
    own.push(url)
  }
  const snapshots = new Set<string>()
  const streams = new Set<string>()
  for (let width = 1; width <= 480; width++) {
    const { live_snapshot, streams: some } = await guest.findCamera('shared-cameras', shared[width % 3]!, { width })
    snapshots.add(live_snapshot)
    streams.add(some[0]!.url)
  }
  const urls = [...snapshots]
  const flood = guest.ask(
    (n) => urls[n % urls.length]!,
    (url, jpeg) => `${new URL(url).pathname} ${createHash('sha256').update(jpeg).digest('base64')}`,
  )
  for (const url of [...streams].slice(0, 60)) guest.watch(url)
  const before: number[] = []
  try {
    await eventually('the flood has begun', 60_000, async () => flood.made > 200)
    for (let i = 0; i < 24; i++) {
      const madeBefore = flood.made
      const { status } = await owner.get(own[i % 2]!)
      assert.equal(status, 200, `image ${i} of ${i % 2 ? 'a shared camera' : 'the other camera'}`)
      before.push(flood.made - madeBefore)
      await delay(50)
    }
  } finally {
    await flood.end()
  }
  assertFew(t, before)
})

test('an account may have 500 open streams and image requests, independently of other accounts', async () => {
  await using camera = await openFakeCamera({ streams: [stream] })
  await using server = await openServer('--rate-limit', '0')
  using guest = await openGuest(server)
  using owner = openVisitor(server, server.token)
  const [id] = await addCameras(server, camera.url('yard'), ['Yard'])
  await share(server, id!)
  const own = await owner.findCamera('cameras', id!, { width: 320 })
  await eventually('the camera is online', 30_000, async () => (await owner.get(own.live_snapshot)).status === 200)

  const { live_snapshot: snapshot, streams } = await guest.findCamera('shared-cameras', id!, { width: 320 })
  const { pathname, search } = new URL(streams[0]!.url)
  const statuses: number[] = []
  const sessions = await Promise.all(Array.from({ length: 4 }, () => openHttp2(server)))
  try {
    for (let i = 0; i < 520; i++) {
      const watching = sessions[i % sessions.length]!.request({ ':path': pathname + search })
      watching.on('error', () => {}).on('response', ({ ':status': status }) => statuses.push(status!))
      watching.resume()
    }
    await eventually('every request has a response', 60_000, async () => statuses.length === 520)
    assert.deepEqual([200, 503].map((status) => statuses.filter((each) => each === status).length), [500, 20]) // biome-ignore format: one line
    const refused = await guest.get(snapshot)
    assert.equal(refused.status, 503)
    assert.match(refused.bytes.toString(), /500 open streams and image requests/)
    assert.equal((await owner.get(own.live_snapshot)).status, 200)
  } finally {
    for (const session of sessions) session.destroy()
  }
  await eventually('capacity is available again', 30_000, async () => (await guest.get(snapshot)).status === 200)
})

const momentOf = (ms: number) => `&at=${new Date(ms).toISOString()}`

/**
 * Checks that half of the owner's images were preceded by few of the guest's. In order of arrival it would be one per
 * connection.
 */
function assertFew(t: TestContext, before: readonly number[]): void {
  t.diagnostic(`images of the guest that were made before each of the owner: ${before.join(', ')}`)
  const usual = before.toSorted((a, b) => a - b)[before.length >> 1]!
  assert.ok(usual <= mostBefore, `half of the owner's images came after more than ${usual} of the guest: ${before}`)
}

async function addCameras(server: ServerUnderTest, url: string, names: readonly string[]): Promise<number[]> {
  const ids: number[] = []
  for (const name of names) {
    const body = { name, type: 'h264', url }
    ids.push((await server.request<Camera>('/v1/cameras/', { method: 'POST', body })).json.id)
  }
  return ids
}

async function share(server: ServerUnderTest, id: number): Promise<void> {
  const body = { email: 'guest@example.com', permissions: { can_view_rec: true } }
  assert.equal((await server.request(`/v1/cameras/${id}/guests/`, { method: 'POST', body })).status, 201)
}

/**
 * Waits for eight seconds of footage. Returns the URL of their images in a size that only the owner uses, and their
 * end.
 */
async function record(server: ServerUnderTest, owner: Visitor, id: number) {
  await server.command('camera', 'record', `${id}`, '--retention', 'P1D')
  const beganMs = Date.now()
  const url = await owner.findImages('cameras', id, { width: 100 })
  const endMs = await eventually('some seconds are recorded', 60_000, async () => {
    const atMs = Date.now() - 1000
    return atMs - beganMs > 10_000 && (await owner.get(url + momentOf(atMs))).status === 200 && atMs
  })
  return { url, endMs }
}

async function openGuest(server: ServerUnderTest): Promise<Visitor> {
  const email = ['--email', 'guest@example.com', '--first-name', 'Gus', '--last-name', 'Guest']
  await server.command('user', 'add', '--password', 'correct horse', ...email)
  const made = await server.command<{ token: string }>('token', 'create', '--user', 'guest@example.com')
  return openVisitor(server, made.token)
}

type Size = { readonly width: number; readonly height?: number }

type Visitor = ReturnType<typeof openVisitor>

/** A client with unlimited persistent connections. */
function openVisitor(server: ServerUnderTest, token: string) {
  const agent = new Agent({ keepAlive: true, ca: server.ca })
  const authorization = `PersonalAccessToken ${token}`
  const open = (url: string) => request(url, { agent, headers: url.includes('/v1/') ? { authorization } : {} })

  const get = (url: string) =>
    new Promise<{ readonly status: number; readonly bytes: Buffer }>((resolve, reject) => {
      const sent = open(url).on('error', reject)
      sent.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode!, bytes: Buffer.concat(chunks) }))
      })
      sent.end()
    })

  const read = async <T>(path: string, { width, height }: Size): Promise<T> => {
    const size = `max_width=${width}${height === undefined ? '' : `&max_height=${height}`}`
    const { status, bytes } = await get(`${server.url}/v1/${path}?${size}`)
    assert.equal(status, 200)
    return JSON.parse(bytes.toString()) as T
  }

  return {
    get,
    findCamera: (list: string, id: number, size: Size) => read<Camera>(`${list}/${id}/`, size),
    /** Returns the URL of recorded images. */
    findImages: async (list: string, id: number, size: Size) =>
      (await read<{ url: string }>(`${list}/${id}/recording/pictures/`, size)).url,
    /** Reads an endless stream. */
    watch: (url: string) => {
      const sent = open(url).on('error', () => {})
      sent.on('response', (response) => response.on('error', () => {}).resume())
      sent.end()
    },
    /**
     * Sends requests over all connections until `end`. `urlOf` returns the URL of each request by its number; images
     * are counted as different by `idOf`.
     */
    ask: (urlOf: (n: number) => string, idOf: (url: string, jpeg: Buffer) => string) => {
      const made = new Set<string>()
      let count = 0
      let isOver = false
      const askers = Array.from({ length: connections }, async () => {
        while (!isOver) {
          const url = urlOf(count++)
          const { status, bytes } = await get(url)
          if (status === 200) made.add(idOf(url, bytes))
          else await delay(20)
        }
      })
      return {
        get made() {
          return made.size
        },
        end: async () => {
          isOver = true
          await Promise.all(askers)
        },
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

async function openHttp2({ url, ca }: ServerUnderTest): Promise<ClientHttp2Session> {
  const session = connectHttp2(url, { ca })
  await once(session, 'connect')
  return session.on('error', () => {})
}
