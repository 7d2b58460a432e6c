import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { openTemporaryStore } from '../../../test/support/store/temporary-store.ts'
import { Challenges, type ChallengeUse, challengeLifetimeMs } from './challenges.ts'

const use: ChallengeUse = { purpose: 'second', owner: 'ada' }

async function createChallenges(t: TestContext) {
  const { store } = await openTemporaryStore(t)
  const clock = { now: 1_700_000_000_000, nowMs: () => clock.now }
  const challenges = new Challenges(randomBytes(32), clock, store.usedValues)
  const create = (of = use) => Buffer.from(challenges.create(of)).toString('base64url')
  return { clock, challenges, create }
}

test('a challenge works once, within five minutes, for its purpose and owner', async (t) => {
  const { clock, challenges, create } = await createChallenges(t)
  const challenge = create()
  assert.equal(await challenges.use(challenge, { purpose: 'alone', owner: 'ada' }, 1), false)
  assert.equal(await challenges.use(challenge, { purpose: 'second', owner: 'bob' }, 1), false)
  assert.equal(await challenges.isGood(challenge, use), true)
  assert.equal(await challenges.use(challenge, use, 1), true)
  assert.equal(await challenges.use(challenge, use, 1), false)
  assert.equal(await challenges.isGood(challenge, use), false)
  const late = create()
  clock.now += challengeLifetimeMs - 1
  assert.equal(await challenges.isGood(late, use), true)
  clock.now += 1
  assert.equal(await challenges.isGood(late, use), false)
  assert.equal(await challenges.use(late, use, 1), false)
})

test('a challenge with other bytes, another spelling or another key is rejected', async (t) => {
  const { challenges, create } = await createChallenges(t)
  const challenge = create()
  const bytes = Buffer.from(challenge, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    assert.equal(await challenges.isGood(changed.toString('base64url'), use), false)
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
    if (other !== challenge) assert.equal(await challenges.isGood(other, use), false, other)
  }
  assert.equal(await challenges.isGood((await createChallenges(t)).create(), use), false)
})
