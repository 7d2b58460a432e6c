import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { openTemporaryStore } from '../../../test/support/store/temporary-store.ts'
import { PendingItems } from './pending-items.ts'

type Item = { readonly path: string }

async function createItems(t: TestContext) {
  const { store } = await openTemporaryStore(t)
  const time = { nowMs: 1_800_000_000_000 }
  const common = { key: randomBytes(32), clock: { nowMs: () => time.nowMs }, lifetimeMs: 1000, used: store.usedValues }
  const create = (kind: string) => new PendingItems<Item>({ ...common, kind })
  return { items: create('step'), create, time, store }
}

test('an item is found by its owner, for its time, and as what it is', async (t) => {
  const { items, create, time } = await createItems(t)
  const item = items.put('ada', { path: '/a' })!
  assert.deepEqual(await items.find('ada', item), { path: '/a' })
  assert.equal(await items.find('eve', item), undefined)
  assert.equal(await items.find('ada', 'other'), undefined)
  assert.equal(await items.find('ada', `${item}A`), undefined)
  assert.equal(await create('question').find('ada', item), undefined)
  assert.deepEqual(await create('step').find('ada', item), { path: '/a' }, 'another server')
  time.nowMs += 999
  assert.deepEqual(await items.find('ada', item), { path: '/a' })
  time.nowMs += 1
  assert.equal(await items.find('ada', item), undefined)
  assert.equal(await items.take('ada', item, 1), undefined)
})

test('an item is completed once, by its owner, on whichever server', async (t) => {
  const { items, create, time, store } = await createItems(t)
  const item = items.put('ada', { path: '/a' })!
  assert.equal(await items.take('eve', item, 2), undefined)
  const taken = await Promise.all([items, create('step')].map((each) => each.take('ada', item, 1)))
  assert.deepEqual(taken.filter(Boolean), [{ path: '/a' }])
  assert.equal(await items.find('ada', item), undefined)
  assert.deepEqual(items.open('ada', item), { path: '/a' })
  // It is remembered for as long as it would work.
  time.nowMs += 999
  await store.usedValues.deleteExpired(time.nowMs)
  assert.equal(await items.find('ada', item), undefined)
})

test('items that a form cannot carry are refused', async (t) => {
  const { items } = await createItems(t)
  const random = (bytes: number) => randomBytes(bytes).toString('base64url')
  assert.ok(items.put('ada', { path: random(8000) }))
  assert.equal(items.put('ada', { path: random(16_000) }), undefined)
})
