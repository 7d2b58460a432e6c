// What second factors need from the rest of the server, and the parameters of their methods.

import type { Clock } from '../../base/clock.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Store } from '../../store/store.ts'
import type { RandomBytes } from '../checked-token.ts'
import type { Audit } from '../guard/audit.ts'
import type { KnownDevices } from '../guard/known-devices.ts'
import type { RequestContext } from '../request-context.ts'

/** Events that the user is notified of by email. */
export type SecondFactorNews =
  | 'app added'
  | 'app removed'
  | 'passkey added'
  | 'passkey removed'
  | 'recovery codes replaced'
  | 'recovery code used'
  | 'removed by an owner'
  /** The correct password was followed by several incorrect codes. */
  | 'wrong codes'

export type SecondFactorNotice = {
  readonly user: Pick<User, 'email'>
  readonly news: SecondFactorNews
  readonly context: RequestContext
  readonly recoveryCodesLeft?: number
}

export type SecondFactorOptions = {
  readonly store: Pick<Store, 'secondFactors' | 'settings' | 'usedValues' | 'users' | 'failures'>
  readonly devices: Pick<KnownDevices, 'isKnown'>
  readonly audit: Pick<Audit, 'write'>
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  /** The origin that passkeys are bound to. */
  readonly publicUrl: string
  /** 32 bytes each, used for nothing else. */
  readonly challengeKey: Uint8Array
  readonly handleKey: Uint8Array
  /** Must not throw. */
  readonly notify: (notice: SecondFactorNotice) => void
}

export type CodeInput = {
  readonly user: User
  /** A code of the authenticator app or a recovery code, as typed. */
  readonly code: string
  readonly context: RequestContext
  /** The value of the known-device cookie, if any. */
  readonly device?: string | undefined
  /** The kind of sign-in, for the audit log. */
  readonly via: string
}

/** The signed-in user who makes the change, as of the start of the request. */
export type FactorInput = {
  readonly user: User
  readonly session: { readonly id: string; readonly credentialsVersion: number }
  readonly context: RequestContext
}

export type Added = {
  /** The user with the new version of the credentials. */
  readonly user: User
  /** New recovery codes, if this is the first factor. They are shown once. */
  readonly recoveryCodes: readonly string[] | undefined
}

export type NewRecoveryCodes = Added & { readonly recoveryCodes: readonly string[] }
