// A bucket of a real store, behind a proxy that fails in the ways in which stores do.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { open, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { generate } from 'selfsigned'
import { openS3Store, type S3Store, type StoreFault, whyNoStore } from '../../../test/s3/s3-store.ts'
import { BlockCache, blockBytes } from './block-cache.ts'
import { BucketFiles } from './bucket-files.ts'

const skip = whyNoStore()
const mark = 'a'.repeat(32)
const path = 'cameras/1/2026-01-02/03-04-05.000Z.mp4'
const content = randomBytes(3.5 * blockBytes)
const file = join(tmpdir(), `nightjar-bucket-${process.pid}`)
let store: S3Store
let prefix = 0

before(async () => {
  if (skip) return
  store = await openS3Store()
  Object.assign(process.env, store.environment)
  await writeFile(file, content)
})
after(async () => {
  await store?.[Symbol.asyncDispose]()
  await rm(file, { force: true })
})
beforeEach(() => {
  store?.setFault(() => undefined)
  prefix++
})

function openBucket(values: { mark?: string; folder?: string; cacheBytes?: number } = {}): BucketFiles {
  const place = { id: 2, folder: store.url(`p${prefix}`), mark, ...values }
  return new BucketFiles(place, new BlockCache(values.cacheBytes ?? 64 * blockBytes))
}

async function put(bucket: BucketFiles, bytes = content.length): Promise<boolean> {
  await using source = await open(file)
  return await bucket.put(path, source, bytes)
}

async function readAll(bucket: BucketFiles): Promise<Buffer> {
  await using stored = await bucket.open(path)
  const target = new Uint8Array(content.length + 10)
  let filled = 0
  for (;;) {
    const { bytesRead } = await stored.read(target, filled, 300_000, filled)
    filled += bytesRead
    if (bytesRead < 300_000) return Buffer.from(target.subarray(0, filled))
  }
}

/** The next `times` requests with this method fail. */
function failing(method: string, fault: StoreFault, times = 1): void {
  store.setFault((each) => (each === method && times-- > 0 ? fault : undefined))
}

test('files are stored, verified, listed, read by blocks and deleted', { skip }, async () => {
  const bucket = openBucket()
  await bucket.mark()
  assert.deepEqual(await bucket.findState(), { state: 'ready' })
  assert.deepEqual(await openBucket({ mark: 'b'.repeat(32) }).findState(), { state: 'foreign' })
  assert.equal(await bucket.isUsed(), false)
  assert.equal(await bucket.size(path), undefined)
  assert.equal(await put(bucket), true)
  assert.equal(await bucket.size(path), content.length)
  assert.deepEqual(await bucket.list('cameras/1'), ['2026-01-02'])
  assert.deepEqual(await bucket.list('cameras/1/2026-01-02'), ['03-04-05.000Z.mp4'])
  assert.deepEqual(await bucket.list('cameras/2'), [])
  store.requests.splice(0)
  assert.deepEqual(await readAll(bucket), content)
  assert.deepEqual(await readAll(bucket), content)
  assert.equal(store.requests.length, 4, 'one request for each block')
  await using stored = await bucket.open(path)
  const views = [new Uint8Array(5), new Uint8Array(blockBytes), new Uint8Array(3)]
  assert.equal((await stored.readv(views, 7)).bytesRead, blockBytes + 8)
  assert.deepEqual(Buffer.concat(views), content.subarray(7, blockBytes + 15))
  assert.deepEqual(await stored.stat(), { size: content.length })
  assert.equal((await stored.read(new Uint8Array(9), 0, 9, content.length + 5 * blockBytes)).bytesRead, 0)
  const gone = 'cameras/1/2026-01-02/03-05-05.000Z.mp4'
  store.requests.splice(0)
  assert.deepEqual(await bucket.removeAll([path, gone]), new Map())
  assert.equal(store.requests.length, 1)
  assert.equal(await bucket.size(path), undefined)
  await put(bucket)
  await bucket.remove(path)
  await bucket.remove(path)
  assert.equal(await bucket.size(path), undefined)
  await assert.rejects(readAll(openBucket()), { kind: 'not_found' })
})

test('a copy that is there already is not sent again, and another file is not touched', { skip }, async () => {
  const bucket = openBucket()
  await put(bucket)
  store.requests.splice(0)
  assert.equal(await put(bucket), true)
  assert.deepEqual(
    store.requests.map((each) => each.split(' ')[0]),
    ['HEAD'],
  )
  await writeFile(file, randomBytes(content.length))
  assert.equal(await put(bucket), false)
  await writeFile(file, content)
  assert.deepEqual(await readAll(bucket), content)
  await assert.rejects(put(bucket, content.length + 1), { kind: 'corrupt', message: /the index says/ })
})

for (const fault of [
  { kind: 'status', status: 503, code: 'SlowDown' },
  { kind: 'status', status: 500, code: 'InternalError' },
  { kind: 'cut' },
  { kind: 'truncate' },
  { kind: 'down' },
  { kind: 'delay', ms: 300 },
] as const) {
  const name = 'code' in fault ? fault.code : fault.kind
  test(`reading survives what passes: ${name}`, { skip }, async () => {
    const bucket = openBucket()
    await put(bucket)
    failing('GET', fault, 2)
    assert.deepEqual(await readAll(bucket), content)
  })
}

for (const fault of [
  { kind: 'status', status: 503, code: 'SlowDown' },
  { kind: 'cut_request' },
  { kind: 'down' },
  { kind: 'delay', ms: 300 },
] as const) {
  const name = 'code' in fault ? fault.code : fault.kind
  test(`storing survives what passes: ${name}`, { skip }, async () => {
    const bucket = openBucket()
    failing('PUT', fault, 2)
    assert.equal(await put(bucket), true)
    assert.deepEqual(await readAll(bucket), content)
  })
}

test('what does not pass is an error that says what to do', { skip }, async () => {
  const bucket = openBucket()
  await put(bucket)
  const refused = async (status: number, code: string) => {
    store.setFault(() => ({ kind: 'status', status, code }))
    return (await openBucket().findState()) as { state: string; detail: string }
  }
  for (const [status, code, expected] of [
    [403, 'AccessDenied', /may not read objects in bucket "footage"/],
    [403, 'RequestTimeTooSkewed', /clock of this machine .* correct it/],
    [403, 'InvalidAccessKeyId', /check AWS_ACCESS_KEY_ID/],
    [301, 'PermanentRedirect', /in another region/],
    [404, 'NoSuchBucket', /there is no bucket "footage"/],
  ] as const) {
    const { state, detail } = await refused(status, code)
    assert.equal(state, 'refused', code)
    assert.match(detail, expected)
  }
  for (const [method, action] of [
    ['PUT', 'store'],
    ['GET', 'read'],
    ['DELETE', 'delete'],
  ] as const) {
    store.setFault((each) => (each === method ? { kind: 'status', status: 403, code: 'AccessDenied' } : undefined))
    await assert.rejects(
      openBucket({ folder: store.url(`new${method}`) }).mark(),
      new RegExp(`may not ${action} objects`),
    )
  }
  store.setFault((_, url) =>
    url.includes('list-type') ? { kind: 'status', status: 403, code: 'AccessDenied' } : undefined,
  )
  await assert.rejects(openBucket({ folder: store.url('new-list') }).mark(), /may not list objects/)
  store.setFault(() => ({ kind: 'down' }))
  const { state, detail } = await openBucket().findState()
  assert.equal(state, 'away')
  assert.match(detail!, /cannot be reached: ECONNRESET/)
})

test('objects are deleted one by one where the store does not know more, and not at all without the right', {
  skip,
}, async () => {
  const bucket = openBucket()
  await put(bucket)
  const other = path.replace('03-04', '03-05')
  const deny = (method: string, status: number, code: string) =>
    store.setFault((each) => (each === method ? { kind: 'status', status, code } : undefined))
  deny('POST', 501, 'NotImplemented')
  assert.deepEqual(await bucket.removeAll([path, other]), new Map())
  store.setFault(() => undefined)
  assert.equal(await bucket.size(path), undefined)
  await put(bucket)
  store.setFault(() => ({ kind: 'status', status: 403, code: 'AccessDenied' }))
  store.requests.splice(0)
  const failed = await bucket.removeAll([path, other, `${other}x`])
  assert.equal(failed.size, 3)
  assert.match(String(failed.get(other)), /may not delete objects/)
  assert.equal(store.requests.length, 2)
  store.setFault(() => ({ kind: 'down' }))
  assert.equal((await bucket.removeAll([path, other])).size, 2)
})

test('where ETags are no MD5, the object is read back', { skip }, async () => {
  const bucket = openBucket()
  store.setFault(() => ({ kind: 'etag' }))
  store.requests.splice(0)
  assert.equal(await put(bucket), true)
  assert.equal(store.requests.filter((each) => each.startsWith('GET ')).length, 4)
  assert.equal(await put(bucket), true)
  await writeFile(file, randomBytes(content.length))
  assert.equal(await put(bucket), false)
  await writeFile(file, content)
})

test('a certificate that cannot be verified is an error that says what to do', { skip }, async (t) => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
  const server = createSecureServer({ key, cert })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const folder = `s3://footage/x?endpoint=https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { state, detail } = await openBucket({ folder }).findState()
  assert.equal(state, 'refused')
  assert.match(detail!, /certificate .* NODE_EXTRA_CA_CERTS/)
})

test('an endpoint that is not S3 is refused', { skip }, async (t) => {
  const server = createServer((_, answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const folder = `s3://footage/x?endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await assert.rejects(openBucket({ folder }).mark(), { kind: 'unavailable' })
})

test('a store that swallows bytes is found out, and the object goes', { skip }, async () => {
  const bucket = openBucket()
  let isStored = false
  store.setFault((method) => {
    if (method === 'PUT') isStored = true
    return method === 'HEAD' && isStored ? { kind: 'status', status: 404, code: 'NotFound' } : undefined
  })
  await assert.rejects(put(bucket), { kind: 'corrupt', message: /differs from the file/ })
  store.setFault(() => undefined)
  assert.equal(await bucket.size(path), undefined)
})

test('the cache holds no more than it may, and errors are not kept', { skip }, async () => {
  const cache = new BlockCache(2 * blockBytes)
  const bucket = new BucketFiles({ id: 2, folder: store.url(`p${prefix}`), mark }, cache)
  await put(bucket)
  await readAll(bucket)
  assert.ok(cache.stats().bytes <= 2 * blockBytes, String(cache.stats().bytes))
  store.setFault(() => ({ kind: 'status', status: 403, code: 'AccessDenied' }))
  const target = new Uint8Array(10)
  await using stored = await bucket.open(path)
  await assert.rejects(stored.read(target, 0, 10, 0), { kind: 'unavailable' })
  store.setFault(() => undefined)
  assert.equal((await stored.read(target, 0, 10, 0)).bytesRead, 10)
  assert.ok(cache.stats().bytes <= 2 * blockBytes)
})
