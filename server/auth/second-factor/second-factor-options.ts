// What the second factor needs of the rest of the server, and what its methods take.

import type { Clock } from '../../base/clock.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Store } from '../../store/store.ts'
import type { RandomBytes } from '../checked-token.ts'
import type { Audit } from '../guard/audit.ts'
import type { KnownDevices } from '../guard/known-devices.ts'
import type { RequestContext } from '../request-context.ts'

/** What the account's user is told of by mail. */
export type SecondFactorNews =
  | 'app added'
  | 'app removed'
  | 'passkey added'
  | 'passkey removed'
  | 'recovery codes replaced'
  | 'recovery code used'
  | 'removed by an owner'
  /** The password was right, and several codes after it were not. */
  | 'wrong codes'

export type SecondFactorNotice = {
  readonly user: Pick<User, 'email'>
  readonly news: SecondFactorNews
  readonly context: RequestContext
  readonly recoveryCodesLeft?: number
}

export type SecondFactorOptions = {
  readonly store: Pick<Store, 'secondFactors' | 'settings' | 'users'>
  readonly devices: Pick<KnownDevices, 'isKnown'>
  readonly audit: Pick<Audit, 'write'>
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  /** The origin of passkeys. */
  readonly publicUrl: string
  /** 32 bytes each, for this purpose alone. */
  readonly challengeKey: Uint8Array
  readonly handleKey: Uint8Array
  /** Must not throw. */
  readonly notify: (notice: SecondFactorNotice) => void
}

export type CodeInput = {
  readonly user: User
  /** As typed: of the app, or a recovery code. */
  readonly code: string
  readonly context: RequestContext
  /** What the browser was given when this user signed in with it before. */
  readonly device?: string | undefined
  /** For the audit log: what it is for. */
  readonly via: string
}

/** By whom: somebody signed in, as of when the session was found. */
export type FactorInput = {
  readonly user: User
  readonly session: { readonly id: string; readonly credentialsVersion: number }
  readonly context: RequestContext
}

export type Added = {
  /** The account's credentials are of another version now. */
  readonly user: User
  /** Of a first factor: to be shown, once. */
  readonly recoveryCodes: readonly string[] | undefined
}

export type NewRecoveryCodes = Added & { readonly recoveryCodes: readonly string[] }
