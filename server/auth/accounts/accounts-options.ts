// What accounts need of the rest of the server, and what their methods take.

import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Mail } from '../../model/mail.ts'
import type { Store } from '../../store/store.ts'
import type { RandomBytes } from '../checked-token.ts'
import type { Audit } from '../guard/audit.ts'
import type { Login } from '../guard/login.ts'
import type { PasswordQueue } from '../guard/password-queue.ts'
import type { RequestContext } from '../request-context.ts'

/** Who may get an account: those an owner makes one for; also those a user invites; everybody with an address. */
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
  readonly log: Logger
  readonly randomBytes: RandomBytes
  /** The origin that links in mails begin with; never what a request asked for. */
  readonly publicUrl: string
  readonly signUp: SignUp
}

export type Names = { readonly firstName: string; readonly lastName: string }

export type NewAccount = Names & { readonly password: string }

/** Who did it, for the records. */
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
  /** The present one. */
  readonly password: string
  /** What shows whose account it is: which session, or that it is a token. Wrong passwords are counted by it. */
  readonly proof: string
  /** The session, or the dashboard in it, that this comes from took the second factor, if there is one; a token did not. */
  readonly hasSecondFactorProof?: boolean
  readonly exceptSessionId?: string
}

export type ProvePasswordInput = Pick<
  ChangePasswordInput,
  'userId' | 'password' | 'proof' | 'hasSecondFactorProof' | 'context'
> & {
  /** What it was sent as, for errors; `password` unless given. */
  readonly field?: string
}

/** What an owner changes of an account; what is not named stays. */
export type OwnerChangeInput = Partial<Names> & {
  readonly email?: string
  /** Empty for none. */
  readonly phone?: string | null
  readonly newPassword?: string
  /** With `newPassword`. */
  readonly revokePersonalTokens?: boolean
  readonly isOwner?: boolean
  /** Ends all that opens the account, for good; the cameras go on. */
  readonly isDisabled?: boolean
}

export type ChangeEmailInput = By &
  Pick<ChangePasswordInput, 'userId' | 'password' | 'proof' | 'hasSecondFactorProof'> & { readonly email: string }

export type ConfirmEmailInput = By & {
  readonly token: string
  readonly userId: number
  readonly exceptSessionId?: string
}
