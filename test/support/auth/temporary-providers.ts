// For tests: a server without identity providers.

import { randomBytes } from 'node:crypto'
import type { Audit } from '../../../server/auth/guard/audit.ts'
import { ProviderService } from '../../../server/auth/providers/provider-service.ts'
import { LongPaths } from '../../../server/auth/sessions/long-paths.ts'
import type { Clock } from '../../../server/base/clock.ts'
import type { Store } from '../../../server/store/store.ts'

export type NoProvidersOptions = { readonly audit: Pick<Audit, 'write'>; readonly clock: Clock }

export function createNoProviders(store: Store, { audit, clock }: NoProvidersOptions): ProviderService {
  const keys = { begun: randomBytes(32), found: randomBytes(32) }
  const longPaths = new LongPaths({ rows: store.keptValues, key: randomBytes(32), clock })
  return new ProviderService({ longPaths, clients: [], store, audit, notify: () => {}, signUp: 'closed', keys, clock })
}
