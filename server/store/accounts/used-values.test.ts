import assert from 'node:assert/strict'
import { testEachDatabase } from '../../../test/postgres/each-database.ts'
import { openTemporaryStore } from '../../../test/support/store/temporary-store.ts'

testEachDatabase(
  'a value works once, whichever of two servers is asked, until it is forgotten',
  async (t, { openStore }) => {
    const { store, database, credentialsKey } = await openStore(t)
    const { store: other } = await openTemporaryStore(t, { database, credentialsKey })
    const stores = [store, other]
    const value = 'a challenge'
    assert.equal(await other.usedValues.isUsed(value), false)
    const tries = Array.from({ length: 20 }, (_, i) =>
      stores[i % 2]!.usedValues.use({ value, untilMs: 1000, userId: 1 }),
    )
    assert.deepEqual((await Promise.all(tries)).filter(Boolean), [true])
    assert.equal(await other.usedValues.isUsed(value), true)
    assert.equal(await other.usedValues.use({ value: 'another', untilMs: 1000 }), true)
    await store.usedValues.deleteExpired(999)
    assert.equal(await other.usedValues.isUsed(value), true)
    await store.usedValues.deleteExpired(1000)
    assert.equal(await other.usedValues.isUsed(value), false)
  },
)

testEachDatabase(
  'one user can use a hundred values at a time, and others are not affected',
  async (t, { openStore }) => {
    const { usedValues } = (await openStore(t)).store
    const use = (i: number, userId?: number) =>
      usedValues.use({ value: `value ${i}`, untilMs: 1000, ...(userId !== undefined && { userId }) })
    for (let i = 0; i < 100; i++) assert.equal(await use(i, 1), true)
    await assert.rejects(use(100, 1), { kind: 'rate_limited' })
    assert.equal(await use(100, 2), true)
    assert.equal(await use(101), true)
    await usedValues.deleteExpired(1000)
    assert.equal(await use(102, 1), true)
  },
)
