import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VersionedCache } from './versioned-cache.ts'

test('values last as long as the version', async () => {
  const source = { version: 1 }
  const cache = new VersionedCache<string, number>(source, { maxEntries: 2 })
  let reads = 0
  const read = async () => ++reads
  assert.equal(cache.get('a'), undefined)
  assert.equal(await cache.load('a', read), 1)
  assert.equal(await cache.load('a', read), 1)
  assert.equal(cache.get('a'), 1)
  source.version++
  assert.equal(cache.get('a'), undefined)
  assert.equal(await cache.load('a', read), 2)
  await cache.load('b', read)
  await cache.load('c', read)
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [undefined, 3, 4])
})

test('those who ask together share one read', async () => {
  const cache = new VersionedCache<string, number>({ version: 1 }, { maxEntries: 2 })
  let reads = 0
  const all = await Promise.all([1, 2, 3].map(() => cache.load('a', async () => ++reads)))
  assert.deepEqual(all, [1, 1, 1])
})

test('a value read while the version changed is given to those who waited and to nobody else', async () => {
  const source = { version: 1 }
  const cache = new VersionedCache<string, string>(source, { maxEntries: 2 })
  const arrival = Promise.withResolvers<string>()
  const early = cache.load('a', () => arrival.promise)
  source.version++
  const late = cache.load('a', async () => 'new')
  arrival.resolve('old')
  assert.deepEqual(await Promise.all([early, late]), ['old', 'new'])
  assert.equal(cache.get('a'), 'new')
})

test('a failed read is not remembered', async () => {
  const cache = new VersionedCache<string, number>({ version: 1 }, { maxEntries: 2 })
  await assert.rejects(
    cache.load('a', async () => {
      throw new Error('busy')
    }),
  )
  assert.equal(await cache.load('a', async () => 5), 5)
})

test('entries take no more bytes than they may, the oldest go first, and one that is too large is not kept', async () => {
  const source = { version: 1 }
  const sizeOf = (key: string, value: string) => key.length + value.length
  const cache = new VersionedCache<string, string>(source, { maxEntries: 100, bytes: { max: 10, maxOfOne: 6, sizeOf } })
  const load = (key: string, value: string) => cache.load(key, async () => value)
  await load('a', '1234')
  await load('b', '1234')
  assert.equal(cache.bytes, 10)
  await load('c', '12')
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [undefined, '1234', '12'])
  assert.equal(cache.bytes, 8)
  assert.equal(await load('d', '123456'), '123456')
  assert.deepEqual([cache.get('b'), cache.get('c'), cache.get('d')], ['1234', '12', undefined])
  source.version++
  assert.equal(cache.get('b'), undefined)
  assert.equal(cache.bytes, 0)
})
