// The parts that check or create credentials other than sessions and grants, created together because they share their
// dependencies.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Store } from '../store/store.ts'
import type { Accounts } from './accounts/accounts.ts'
import type { Authenticator } from './authenticator.ts'
import { ClearCredentials } from './clear-credentials.ts'
import { DeviceCredentials } from './device-credentials.ts'
import type { Audit } from './guard/audit.ts'
import type { RateLimits } from './guard/rate-limits.ts'
import { PersonalTokens } from './personal-tokens.ts'

export type CredentialPartsOptions = {
  readonly store: Pick<Store, 'tokens' | 'cameras' | 'users' | 'usedValues' | 'version'>
  readonly authenticator: Pick<Authenticator, 'authenticate'>
  readonly accounts: Pick<Accounts, 'notices'>
  readonly limits: RateLimits
  readonly audit: Pick<Audit, 'write'>
  readonly clock: Clock
  readonly log: Logger
}

export type CredentialParts = {
  readonly personalTokens: PersonalTokens
  /** Event hashes of cameras. */
  readonly devices: DeviceCredentials
  /** Credentials that were sent over unencrypted connections. */
  readonly clearCredentials: ClearCredentials
}

export function createCredentialParts(options: CredentialPartsOptions): CredentialParts {
  const { store, authenticator, accounts, limits, audit, clock, log } = options
  return {
    personalTokens: new PersonalTokens({ rows: store.tokens, audit, randomBytes }),
    devices: new DeviceCredentials({ store, limits }),
    clearCredentials: new ClearCredentials({
      ...{ authenticator, limits, audit, used: store.usedValues, clock, log },
      notify: (notice) => accounts.notices.inClear(notice),
    }),
  }
}
