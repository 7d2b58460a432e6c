// The parts of the server that the pages use.

import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Audit } from '../../auth/guard/audit.ts'
import type { Login } from '../../auth/guard/login.ts'
import type { OAuth } from '../../auth/oauth/oauth.ts'
import type { PersonalTokens } from '../../auth/personal-tokens.ts'
import type { ProviderService } from '../../auth/providers/provider-service.ts'
import type { SecondFactorService } from '../../auth/second-factor/second-factor-service.ts'
import type { LongPaths } from '../../auth/sessions/long-paths.ts'
import type { Sessions } from '../../auth/sessions/sessions.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { UsedValues } from '../../store/accounts/used-values.ts'
import type { Users } from '../../store/accounts/users.ts'
import type { RepeatedRequestsOptions } from './repeated-requests.ts'

export type PagesDeps = {
  readonly sessions: Sessions
  readonly login: Pick<Login, 'verify' | 'createDevice'>
  readonly oauth: Pick<OAuth, 'authorization' | 'grants'>
  readonly accounts: Pick<Accounts, 'signUps' | 'selfService'>
  readonly personalTokens: PersonalTokens
  readonly secondFactors: SecondFactorService
  readonly audit: Pick<Audit, 'write'>
  readonly providers: Pick<
    ProviderService,
    'providers' | 'sealStart' | 'openStart' | 'begin' | 'finish' | 'openFound' | 'linkFound' | 'list' | 'unlink'
  >
  readonly users: Pick<Users, 'find' | 'get' | 'hasPassword'>
  readonly usedValues: Pick<UsedValues, 'isUsed' | 'use'>
  /** 32 bytes each. Seal the URLs that browsers return to after sign-in, and the steps that users have not completed. */
  readonly returnToKey: Uint8Array
  readonly pendingKey: Uint8Array
  readonly longPaths: LongPaths
  /** See `RepeatedRequestsOptions.shared`. */
  readonly sharedAnswers?: RepeatedRequestsOptions['shared']
  /** False if mails are only put into a folder of the server. */
  readonly hasMailServer: boolean
  readonly clock: Clock
  readonly log: Logger
}
