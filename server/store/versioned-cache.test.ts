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

test('what is not to be kept is read each time', async () => {
  const cache = new VersionedCache<string, string>({ version: 1 }, { maxEntries: 2, isKept: (text) => text.length < 3 })
  let reads = 0
  const read = (text: string) => async () => {
    reads++
    return text
  }
  for (let i = 0; i < 2; i++) assert.equal(await cache.load('long', read('abc')), 'abc')
  for (let i = 0; i < 2; i++) assert.equal(await cache.load('short', read('ab')), 'ab')
  assert.equal(reads, 3)
})
