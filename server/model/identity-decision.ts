// Decides what a sign-in through an identity provider leads to. Pure, so that every case can be tested. Users are
// identified by issuer and subject; an email address counts only if the provider says it is verified, and never opens
// an account by itself.

/** What is known when the provider's response has been validated. */
export type ProvenPerson = {
  /** The account that this identity is linked to. */
  readonly linked: Account | undefined
  /** True if the provider says that the address is verified. */
  readonly isEmailVerified: boolean
  /** The account with that address. */
  readonly sameAddress:
    | (Account & { /** Another person of this issuer signs in to it. */ readonly hasOther: boolean })
    | undefined
  readonly isInvited: boolean
}

type Account = { readonly id: number; readonly isDisabled: boolean }

export type IdentityPolicy = {
  /** True if the operator trusts the provider with every account whose address it verifies. */
  readonly linksByAddress: boolean
  /** Who may create an account. */
  readonly signUp: 'closed' | 'invitation' | 'open'
}

export type IdentityRefusal =
  | 'disabled'
  | 'address_not_verified'
  | 'other_person_linked'
  | 'sign_up_closed'
  | 'not_invited'

export type IdentityDecision =
  | { readonly kind: 'sign_in'; readonly userId: number }
  /** Link to the account with the address, by the operator's rule. */
  | { readonly kind: 'link'; readonly userId: number }
  /** The user must first sign in to the account as before. */
  | { readonly kind: 'prove'; readonly userId: number }
  | { readonly kind: 'add'; readonly needsInvitation: boolean }
  | { readonly kind: 'refuse'; readonly reason: IdentityRefusal }

export function decideIdentity(person: ProvenPerson, { linksByAddress, signUp }: IdentityPolicy): IdentityDecision {
  const { linked, isEmailVerified, sameAddress, isInvited } = person
  if (linked) return linked.isDisabled ? refuse('disabled') : { kind: 'sign_in', userId: linked.id }
  if (!isEmailVerified) return refuse('address_not_verified')
  if (sameAddress) {
    if (sameAddress.isDisabled) return refuse('disabled')
    // An abandoned mailbox may belong to somebody else by now.
    if (sameAddress.hasOther) return refuse('other_person_linked')
    return { kind: linksByAddress ? 'link' : 'prove', userId: sameAddress.id }
  }
  if (signUp === 'open') return { kind: 'add', needsInvitation: false }
  if (signUp === 'closed') return refuse('sign_up_closed')
  return isInvited ? { kind: 'add', needsInvitation: true } : refuse('not_invited')
}

function refuse(reason: IdentityRefusal): IdentityDecision {
  return { kind: 'refuse', reason }
}
