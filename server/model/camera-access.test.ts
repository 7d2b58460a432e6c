import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canViewLive, canViewRecordings, decideCameraRight, type Share } from './camera-access.ts'

const owner = { id: 1, disabledAtMs: null }
const user = { id: 2, disabledAtMs: null }
const disabled = { disabledAtMs: 5 }
const share: Share = { canViewRecordings: false, sharesNotifications: false, isOpened: true }

/** Who may see live video and recordings, as two letters. */
function rightsOf(facts: Parameters<typeof decideCameraRight>[0]): string {
  const right = decideCameraRight(facts)
  return `${right.role} ${canViewLive(right) ? 'L' : '-'}${canViewRecordings(right) ? 'R' : '-'}`
}

test('T20: who may see a camera, and its recordings', () => {
  const recordings = { ...share, canViewRecordings: true }
  const cases = [
    ['owner LR', { user: owner, owner, shares: [] }],
    ['owner LR', { user: owner, owner, shares: [share] }],
    ['none --', { user: { ...owner, ...disabled }, owner: { ...owner, ...disabled }, shares: [] }],
    ['guest L-', { user, owner, shares: [share] }],
    ['guest LR', { user, owner, shares: [recordings] }],
    ['guest LR', { user, owner, shares: [share, recordings] }],
    ['none --', { user, owner, shares: [] }],
    ['none --', { user: { ...user, ...disabled }, owner, shares: [recordings] }],
    ['none --', { user, owner: { ...owner, ...disabled }, shares: [recordings] }],
    ['none --', { user: undefined, owner, shares: [] }],
    ['none --', { user, owner: undefined, shares: [] }],
  ] as const
  for (const [expected, facts] of cases) assert.equal(rightsOf(facts), expected, JSON.stringify(facts))
})

test('a guest by two addresses may do what either allows, and has opened the share when both are', () => {
  const shares = [share, { canViewRecordings: false, sharesNotifications: true, isOpened: false }]
  assert.deepEqual(decideCameraRight({ user, owner, shares }), {
    role: 'guest',
    canViewRecordings: false,
    sharesNotifications: true,
    isOpened: false,
  })
})
