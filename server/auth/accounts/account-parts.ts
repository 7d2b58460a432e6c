// The parts that the account services share.

import type { User } from '../../store/accounts/users.ts'
import type { RequestContext } from '../request-context.ts'
import type { AccountMails } from './account-mails.ts'
import type { AccountsOptions, By } from './accounts-options.ts'
import type { BackgroundQueue } from './background-queue.ts'
import type { LinkService } from './link-service.ts'

export type AccountParts = {
  readonly options: AccountsOptions
  readonly links: LinkService
  readonly mails: AccountMails
  readonly background: BackgroundQueue
}

/** Returns fields of an audit event. */
export function withContext({ context }: By): { context?: RequestContext } {
  return context ? { context } : {}
}

/** Returns fields of an audit event. */
export function about(user: User, input: By) {
  return { userId: user.id, subject: user.email, ...withContext(input) }
}

/** Returns the detail of an audit event. */
export function by({ byUserId }: By): { by_user?: number } {
  return byUserId === undefined ? {} : { by_user: byUserId }
}
