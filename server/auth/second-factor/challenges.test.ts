import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Challenges, type ChallengeUse, challengeLifetimeMs } from './challenges.ts'

const use: ChallengeUse = { purpose: 'second', owner: 'ada' }

function createChallenges() {
  const clock = { now: 1_700_000_000_000, nowMs: () => clock.now }
  const challenges = new Challenges(randomBytes(32), clock)
  const create = (of = use) => Buffer.from(challenges.create(of)).toString('base64url')
  return { clock, challenges, create }
}

test('a challenge works once, within five minutes, for its purpose and owner', () => {
  const { clock, challenges, create } = createChallenges()
  const challenge = create()
  assert.equal(challenges.use(challenge, { purpose: 'alone', owner: 'ada' }, 1), false)
  assert.equal(challenges.use(challenge, { purpose: 'second', owner: 'bob' }, 1), false)
  assert.equal(challenges.use(challenge, use, 1), true)
  assert.equal(challenges.use(challenge, use, 1), false)
  assert.equal(challenges.isGood(challenge, use), false)
  const late = create()
  clock.now += challengeLifetimeMs - 1
  assert.equal(challenges.isGood(late, use), true)
  clock.now += 1
  assert.equal(challenges.isGood(late, use), false)
})

test('a challenge with other bytes, another spelling or another key is rejected', () => {
  const { challenges, create } = createChallenges()
  const challenge = create()
  const bytes = Buffer.from(challenge, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    assert.equal(challenges.isGood(changed.toString('base64url'), use), false)
  }
  for (const other of [
    '',
    '=',
    `${challenge}=`,
    `${challenge}A`,
    ` ${challenge}`,
    bytes.toString('base64'),
    'é'.repeat(60),
  ]) {
    if (other !== challenge) assert.equal(challenges.isGood(other, use), false, other)
  }
  assert.equal(challenges.isGood(createChallenges().create(), use), false)
})

test('used challenges are limited per user and in total, and are forgotten when they expire', () => {
  const { clock, challenges, create } = createChallenges()
  for (let i = 0; i < 100; i++) assert.equal(challenges.use(create(), use, 1), true)
  assert.throws(() => challenges.use(create(), use, 1), { kind: 'rate_limited' })
  assert.equal(challenges.use(create(), use, 2), true)
  for (let user = 3; challenges.size < 10_000; user++) {
    for (let i = 0; i < 100 && challenges.size < 10_000; i++) challenges.use(create(), use, user)
  }
  assert.throws(() => challenges.use(create(), use, 5000), { kind: 'unavailable' })
  clock.now += challengeLifetimeMs
  assert.equal(challenges.use(create(), use, 1), true)
  assert.equal(challenges.size, 1)
})
