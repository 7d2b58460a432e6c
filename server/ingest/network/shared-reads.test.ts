import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { SharedReads, type SharedReadsOptions } from './shared-reads.ts'
import type { Standstill } from './standstill.ts'

/** Creates reads with rests of a minute, which are counted instead of waited for. */
function openReads(options: SharedReadsOptions = {}) {
  const rests: number[] = []
  const reads = new SharedReads({ restMs: 60_000, rest: (ms) => rests.push(ms), ...options })
  const readAll = async () => {
    for (let i = 0; i < 3; i++) reads.note()
    await turn()
  }
  return { reads, rests, readAll }
}

test('the thread rests once between two reads, however much data there is', async () => {
  const { rests, readAll } = openReads()
  await readAll()
  assert.equal(rests.length, 0, 'there is no rest before the first read')
  await readAll()
  await readAll()
  assert.equal(rests.length, 2)
  assert.ok(rests.every((ms) => ms > 0 && ms <= 60_000))
  await turn()
  assert.equal(rests.length, 2, 'there is no rest without a read')
})

test('the thread does not rest while a holder or mayRest forbids it', async () => {
  let mayRest = false
  const { reads, rests, readAll } = openReads({ mayRest: () => mayRest })
  await readAll()
  await readAll()
  assert.equal(rests.length, 0)
  mayRest = true
  const release = [reads.hold(), reads.hold()]
  await readAll()
  release[0]!()
  release[0]!()
  await readAll()
  assert.equal(rests.length, 0)
  release[1]!()
  await readAll()
  assert.equal(rests.length, 1)
})

test('rests are long without a caller of attend', async () => {
  const { reads, rests, readAll } = openReads({ longRestMs: 600_000 })
  await readAll()
  await readAll()
  assert.ok(rests[0]! > 60_000 && rests[0]! <= 600_000)
  const release = [reads.attend(), reads.attend()]
  release[0]!()
  release[0]!()
  await readAll()
  assert.ok(rests[1]! <= 60_000)
  release[1]!()
  await readAll()
  assert.ok(rests[2]! > 60_000)
})

test('rare reads and threads without rests do not wait', async () => {
  const seldom = openReads({ restMs: 1 })
  await seldom.readAll()
  const before = performance.now()
  while (performance.now() < before + 2);
  seldom.rests.length = 0
  await seldom.readAll()
  assert.deepEqual(seldom.rests, [])
  const never = openReads({ restMs: 0 })
  await never.readAll()
  await never.readAll()
  assert.deepEqual(never.rests, [])
})

test('all that the round after a standstill reads was waiting, however long the round takes', async () => {
  const endedMs = performance.now()
  const standstill = { sinceMs: () => performance.now() - endedMs } as Standstill
  const { reads, readAll } = openReads({ standstill })
  reads.note()
  const notedMs = performance.now() - endedMs
  while (performance.now() - endedMs < notedMs + 50);
  reads.note()
  assert.ok(reads.sinceStandstillMs() <= notedMs)
  await turn()
  assert.ok(reads.sinceStandstillMs() >= 50)
  await readAll()
  assert.ok(reads.sinceStandstillMs() >= 50)
})
