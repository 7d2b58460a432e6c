import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decideIdentity, type IdentityPolicy, type ProvenPerson } from './identity-decision.ts'

const account = fc.record({ id: fc.integer({ min: 1, max: 3 }), isDisabled: fc.boolean() })
const persons: fc.Arbitrary<ProvenPerson> = fc.record({
  linked: fc.option(account, { nil: undefined }),
  isEmailVerified: fc.boolean(),
  sameAddress: fc.option(
    fc.tuple(account, fc.boolean()).map(([known, hasOther]) => ({ ...known, hasOther })),
    { nil: undefined },
  ),
  isInvited: fc.boolean(),
})
const policies: fc.Arbitrary<IdentityPolicy> = fc.record({
  linksByAddress: fc.boolean(),
  signUp: fc.constantFrom('closed', 'invitation', 'open'),
})

test('whatever is known, nobody gets in by an address that is not verified, or into a disabled account', () => {
  fc.assert(
    fc.property(persons, policies, (person, policy) => {
      const decision = decideIdentity(person, policy)
      if (decision.kind === 'sign_in') {
        assert.equal(decision.userId, person.linked!.id)
        assert.equal(person.linked!.isDisabled, false)
        return
      }
      if (person.linked || decision.kind === 'refuse') return
      assert.equal(person.isEmailVerified, true)
      if (decision.kind === 'add') {
        assert.equal(person.sameAddress, undefined)
        assert.ok(policy.signUp === 'open' || (policy.signUp === 'invitation' && person.isInvited))
        assert.equal(decision.needsInvitation, policy.signUp === 'invitation')
        return
      }
      assert.deepEqual(person.sameAddress, { id: decision.userId, isDisabled: false, hasOther: false })
      assert.equal(decision.kind, policy.linksByAddress ? 'link' : 'prove')
    }),
  )
})

test('each refusal says why', () => {
  const nobody: ProvenPerson = { linked: undefined, isEmailVerified: true, sameAddress: undefined, isInvited: false }
  const here = { id: 1, isDisabled: false, hasOther: false }
  const policy: IdentityPolicy = { linksByAddress: true, signUp: 'invitation' }
  for (const [person, reason, change] of [
    [{ ...nobody, linked: { ...here, isDisabled: true } }, 'disabled', {}],
    [{ ...nobody, isEmailVerified: false, sameAddress: here, isInvited: true }, 'address_not_verified', {}],
    [{ ...nobody, sameAddress: { ...here, isDisabled: true } }, 'disabled', {}],
    [{ ...nobody, sameAddress: { ...here, hasOther: true } }, 'other_person_linked', {}],
    [nobody, 'not_invited', {}],
    [{ ...nobody, isInvited: true }, 'sign_up_closed', { signUp: 'closed' }],
  ] as const) {
    assert.deepEqual(decideIdentity(person, { ...policy, ...change }), { kind: 'refuse', reason })
  }
})
