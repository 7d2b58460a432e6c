// What a sign-in leads to that an identity provider has proved: pure, so that every case can be tried. Who is known at
// a provider is known by issuer and subject; an address counts only where the provider says that it is verified, and
// never opens an account alone.

/** What is known when the provider's answer is proved. */
export type ProvenPerson = {
  /** The account that the person signs in to. */
  readonly linked: Account | undefined
  /** The provider says that the address is the person's. */
  readonly isEmailVerified: boolean
  /** The account with that address. */
  readonly sameAddress:
    | (Account & { /** Another person of this issuer signs in to it. */ readonly hasOther: boolean })
    | undefined
  readonly isInvited: boolean
}

type Account = { readonly id: number; readonly isDisabled: boolean }

export type IdentityPolicy = {
  /** The operator trusts the provider with every account whose address it vouches for. */
  readonly linksByAddress: boolean
  /** Who may get an account here. */
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
  /** To the account of the address, by the operator's rule. */
  | { readonly kind: 'link'; readonly userId: number }
  /** The person signs in to the account first, as they did before. */
  | { readonly kind: 'prove'; readonly userId: number }
  | { readonly kind: 'add'; readonly needsInvitation: boolean }
  | { readonly kind: 'refuse'; readonly reason: IdentityRefusal }

export function decideIdentity(person: ProvenPerson, { linksByAddress, signUp }: IdentityPolicy): IdentityDecision {
  const { linked, isEmailVerified, sameAddress, isInvited } = person
  if (linked) return linked.isDisabled ? refuse('disabled') : { kind: 'sign_in', userId: linked.id }
  if (!isEmailVerified) return refuse('address_not_verified')
  if (sameAddress) {
    if (sameAddress.isDisabled) return refuse('disabled')
    // A mailbox that was given up may be somebody else's by now.
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
