// For tests: the token endpoint with an application, a user and a clock.

import type { TestContext } from 'node:test'
import { Authenticator } from '../../../server/auth/authenticator.ts'
import type { AuditEvent } from '../../../server/auth/guard/audit.ts'
import type { ReuseNotice } from '../../../server/auth/oauth/oauth-options.ts'
import { silentLogger } from '../../../server/base/log.ts'
import type { OAuthPolicy } from '../../../server/model/oauth/policy.ts'
import type { Store, StoreOptions } from '../../../server/store/store.ts'
import { TestClock } from '../test-clock.ts'
import {
  addApplication,
  addUser,
  askRevoke,
  askToken,
  createTemporaryOAuth,
  readPair,
  type Sent,
  testPassword,
} from './temporary-oauth.ts'

/** A database of test/postgres/each-database.ts. */
type TestDatabase = {
  openStore(
    t: TestContext,
    options: Partial<StoreOptions>,
  ): Promise<{ readonly store: Store; readonly database: string }>
}

export async function openLogins(t: TestContext, { openStore }: TestDatabase, policy: Partial<OAuthPolicy> = {}) {
  const clock = new TestClock()
  const { store, database } = await openStore(t, { clock })
  const events: AuditEvent[] = []
  const notices: ReuseNotice[] = []
  const oauth = createTemporaryOAuth(store, {
    clock,
    policy,
    audit: { write: (event) => void events.push(event) },
    onReuse: (notice) => void notices.push(notice),
  })
  const authenticator = new Authenticator({ tokens: store.tokens, grants: store.grants, source: store, clock, log: silentLogger }) // biome-ignore format: one line
  const user = await addUser(store)
  const app = await addApplication(store, { ownerId: user.id })
  await addApplication(store, { ownerId: user.id, clientId: 'other' })
  const logIn = async (change: Sent = {}) =>
    readPair(
      await askToken(oauth, {
        grant_type: 'password',
        client_id: 'app',
        username: user.email,
        password: testPassword,
        ...change,
      }),
    )
  const refresh = (refresh_token: string, change: Sent = {}, idempotencyKey?: string) =>
    askToken(
      oauth,
      { grant_type: 'refresh_token', client_id: 'app', refresh_token, ...change },
      idempotencyKey === undefined ? {} : { idempotencyKey },
    )
  const revoke = (token: string, client_id = 'app') => askRevoke(oauth, { client_id, token })
  const isAccepted = async (access: string) => {
    try {
      await authenticator.authenticate(`Bearer ${access}`)
      return true
    } catch {
      return false
    }
  }
  return {
    store,
    database,
    clock,
    oauth,
    authenticator,
    events,
    notices,
    user,
    app,
    logIn,
    refresh,
    revoke,
    isAccepted,
  }
}
