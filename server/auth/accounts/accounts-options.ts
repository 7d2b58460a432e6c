// What the account services need from the rest of the server, and the parameters of their methods.

import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Mail } from '../../model/mail.ts'
import type { Store } from '../../store/store.ts'
import type { RandomBytes } from '../checked-token.ts'
import type { Audit } from '../guard/audit.ts'
import type { Login } from '../guard/login.ts'
import type { PasswordQueue } from '../guard/password-queue.ts'
import type { RequestContext } from '../request-context.ts'

/**
 * Who may get an account: only users whom an owner adds; also users who are invited by others; or everyone with an
 * email address.
 */
export type SignUp = 'closed' | 'invitation' | 'open'

export type AccountsOptions = {
  readonly store: Pick<
    Store,
    'users' | 'accounts' | 'identities' | 'links' | 'mails' | 'guests' | 'cameras' | 'transaction'
  >
  readonly login: Pick<Login, 'verify' | 'forgive'>
  readonly passwords: Pick<PasswordQueue, 'hash'>
  readonly mailer: { send(mail: Mail): Promise<void> }
  readonly audit: Pick<Audit, 'write'>
  readonly clock: Clock
  /** The time that decides which links are removed; by default that of the clock. */
  readonly deletionMs?: () => number
  readonly log: Logger
  readonly randomBytes: RandomBytes
  /** The origin of links in emails. Never taken from a request. */
  readonly publicUrl: string
  /** How many servers share limits; 1 by default. */
  readonly servers?: (() => number) | undefined
  readonly signUp: SignUp
  /** Accounts that come of an invitation to a camera may add own cameras. Default: they only watch. */
  readonly guestsAddCameras?: boolean
}

export type Names = { readonly firstName: string; readonly lastName: string }

export type NewAccount = Names & { readonly password: string }

/** Who makes the change, for the audit log. */
export type By = { readonly context?: RequestContext | undefined; readonly byUserId?: number }

export type SetUpInput = NewAccount & By & { readonly code: string; readonly email: string }

export type InviteInput = By & { readonly email: string; readonly inviterId: number; readonly cameraId?: number }

export type AcceptInput = NewAccount & By & { readonly token: string }

export type AddInput = NewAccount &
  By & { readonly email: string; readonly phone?: string | null; readonly isOwner?: boolean }

export type ResetInput = By & {
  readonly token: string
  readonly password: string
  readonly revokePersonalTokens?: boolean
}

export type ChangePasswordInput = By & {
  readonly userId: number
  readonly newPassword: string
  readonly revokePersonalTokens?: boolean
  /** The current password. */
  readonly password: string
  /** Identifies the session or token that the request came with. Wrong passwords are counted per proof. */
  readonly proof: string
  /** True if the session was started with the account's second factor, if there is one. False for tokens. */
  readonly hasSecondFactorProof?: boolean
  readonly exceptSessionId?: string
}

export type ProvePasswordInput = Pick<
  ChangePasswordInput,
  'userId' | 'password' | 'proof' | 'hasSecondFactorProof' | 'context'
> & {
  /** The name of the field in errors; `password` by default. */
  readonly field?: string
}

/** Changes that an owner makes to an account. Missing fields stay unchanged. */
export type OwnerChangeInput = Partial<Names> & {
  readonly email?: string
  /** An empty string removes the number. */
  readonly phone?: string | null
  readonly newPassword?: string
  /** Used with `newPassword`. */
  readonly revokePersonalTokens?: boolean
  readonly isOwner?: boolean
  readonly mayAddCameras?: boolean
  /** True permanently revokes all access to the account. Its cameras keep running. */
  readonly isDisabled?: boolean
}

export type ChangeEmailInput = By &
  Pick<ChangePasswordInput, 'userId' | 'password' | 'proof' | 'hasSecondFactorProof'> & { readonly email: string }

export type ConfirmEmailInput = By & {
  readonly token: string
  readonly userId: number
  readonly exceptSessionId?: string
}
