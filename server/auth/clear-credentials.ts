// Credentials that were sent over plain HTTP, where everyone on the network could read them. They are rejected, but
// remain valid over HTTPS, so the event is audited and the user is notified. They are not revoked: a mistake in one
// script must not stop others.

import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { RateLimiter } from '../base/rate-limiter.ts'
import type { UsedValues } from '../store/accounts/used-values.ts'
import type { Authenticator } from './authenticator.ts'
import type { Audit } from './guard/audit.ts'
import type { RateLimits } from './guard/rate-limits.ts'
import type { RequestContext } from './request-context.ts'

const dayMs = 86_400_000
/** Audit events per IP address for forms, which identify no account. */
const formsPerMinute = 10

export type ClearNotice = { readonly userId: number; readonly context: RequestContext }

export type ClearCredentialsOptions = {
  readonly authenticator: Pick<Authenticator, 'authenticate'>
  readonly limits: Pick<RateLimits, 'takeAddress'>
  readonly audit: Pick<Audit, 'write'>
  /** Sends an email to the user. Never throws. */
  readonly notify: (notice: ClearNotice) => void
  readonly used: Pick<UsedValues, 'use'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>
  readonly log: Logger
}

export type ClearRequest = {
  /** The Authorization header, if any. */
  readonly authorization: string | undefined
  /** True for a form that contains a password or a token. Its body was not read. */
  readonly isForm: boolean
  readonly context: RequestContext
}

export class ClearCredentials {
  readonly #options: ClearCredentialsOptions
  readonly #forms: RateLimiter<string>

  constructor(options: ClearCredentialsOptions) {
    const { clock } = options
    this.#options = options
    this.#forms = new RateLimiter({ limit: formsPerMinute, clock })
  }

  /** Never throws. The work is done in the background. */
  note(request: ClearRequest): void {
    this.#note(request).catch((error: unknown) => {
      // Invalid credentials, and too many of them, are not worth a log line.
      const isUsual = error instanceof AppError && ['unauthenticated', 'rate_limited'].includes(error.kind)
      if (!isUsual)
        this.#options.log.warn({ reason: errorChain(error) }, 'unencrypted credentials could not be recorded')
    })
  }

  async #note({ authorization, isForm, context }: ClearRequest): Promise<void> {
    const { authenticator, limits, audit, notify, used, clock } = this.#options
    if (authorization !== undefined) {
      limits.takeAddress(context.ip)
      const { userId, credential } = await authenticator.authenticate(authorization)
      audit.write({ event: 'credentials.in_clear', userId, context, detail: { [credential.kind]: credential.id } })
      // Once a day, whichever server noticed it.
      const notice = { value: `notice of unencrypted credentials ${userId}`, untilMs: clock.nowMs() + dayMs }
      if (await used.use(notice)) notify({ userId, context })
    } else if (isForm) {
      this.#forms.take(context.ip)
      audit.write({ event: 'credentials.in_clear', context, detail: { form: true } })
    }
  }
}
