import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword } from '../password.ts'
import { countPasswordThreads, PasswordQueue } from './password-queue.ts'

test('two threads and one core are left to other work', () => {
  assert.equal(countPasswordThreads(4, 8), 2)
  assert.equal(countPasswordThreads(16, 2), 1)
  assert.equal(countPasswordThreads(16, 32), 14)
  assert.equal(countPasswordThreads(1, 1), 1)
})

test('T25: a few hashes run at once, fifty callers wait, and the others get a time to retry', async () => {
  const passwords = new PasswordQueue({ maxRunning: 2 })
  const hash = await hashPassword('correct horse')
  const order: number[] = []
  const checks = Array.from({ length: 500 }, (_, i) =>
    passwords.verify(hash, i % 2 ? 'correct horse' : 'another').then((isRight) => {
      order.push(i)
      assert.equal(isRight, i % 2 === 1)
    }),
  )
  assert.deepEqual(passwords.stats(), { running: 2, waiting: 50, refused: 448 })
  const results = await Promise.allSettled(checks)
  const refused = results.filter((result) => result.status === 'rejected')
  assert.equal(refused.length, 448)
  for (const { reason } of refused) assert.deepEqual([reason.kind, reason.retryAfterSeconds], ['unavailable', 2])
  assert.deepEqual(
    results.slice(0, 52).map(({ status }) => status),
    Array(52).fill('fulfilled'),
  )
  assert.equal(order.length, 52)
  assert.deepEqual(passwords.stats(), { running: 0, waiting: 0, refused: 448 })
  assert.equal(await passwords.verify(hash, 'correct horse'), true)
})

test('a failed task makes room for the next one', async () => {
  const passwords = new PasswordQueue({ maxRunning: 1 })
  await assert.rejects(passwords.hash('short'), { kind: 'invalid' })
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => passwords.verify('$argon2id$nonsense', 'x')))
  assert.deepEqual(
    results.map(({ status }) => status),
    Array(5).fill('rejected'),
  )
  assert.match(await passwords.hash('long enough'), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.match(await passwords.rehash('short'), /^\$argon2id\$/)
})

test('T25: strangers take turns by client, and whoever has many waiting gives way', async () => {
  const passwords = new PasswordQueue({ maxRunning: 1 })
  const hash = await hashPassword('correct horse')
  const outcomes = new Map<string, number>()
  const sign = async (name: string, isKnown = false) => {
    const isRight = await passwords.verify(hash, 'correct horse', { name, isKnown }).catch(() => false)
    if (isRight) outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
    return isRight
  }
  const flood = Array.from({ length: 200 }, (_, i) => sign(`attacker ${i % 15}`))
  const honest = Array.from({ length: 12 }, (_, i) => sign(`person ${i}`))
  let isFloodOver = false
  const over = Promise.all(flood).then(() => {
    isFloodOver = true
  })
  // Of many, few wait.
  assert.ok(passwords.stats().waiting <= 50)
  assert.equal(await sign('Ada', true), true)
  assert.equal(isFloodOver, false, 'a known client does not wait for all strangers')
  assert.deepEqual(await Promise.all(honest), Array(12).fill(true))
  await over
  for (let i = 0; i < 15; i++) assert.ok(outcomes.get(`attacker ${i}`)! <= 5)
  assert.deepEqual(passwords.stats().waiting, 0)
})
