// The real API with real accounts on a store of its own, for tests of what users and owners manage; mails are kept
// instead of sent.

import type { TestContext } from 'node:test'
import type { ApiDeps } from '../../../server/api/deps.ts'
import type { Store } from '../../../server/store/store.ts'
import { createTemporaryAccounts } from '../auth/temporary-accounts.ts'
import { createTemporaryOAuth } from '../auth/temporary-oauth.ts'
import { openTemporaryApi } from './temporary-api.ts'

/** Of Ada, and of the owner. */
export const password = 'hairy otters sing'
export const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** With an owner of the server, and Ada. */
export async function openAccountsApi(t: TestContext) {
  const held: { temporary?: ReturnType<typeof createTemporaryAccounts>; store?: Store } = {}
  const addParts = (store: Store): Partial<ApiDeps> => {
    held.temporary = createTemporaryAccounts(store)
    const { accounts, noted: audit, login } = held.temporary
    return { accounts, audit, oauth: createTemporaryOAuth(store, { login }) }
  }
  const temporary = await openTemporaryApi(t, {}, addParts)
  const { accounts, audit, login, takeMails, events } = held.temporary!
  t.after(() => audit.flush())
  const { store, api } = temporary
  const send = async (method: string, url: string, authorization: string, body?: unknown) => {
    const response = await api.server.inject({
      method: method as 'GET',
      url,
      headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return {
      status: response.statusCode,
      body: response.body === '' ? undefined : response.json(),
      headers: response.headers,
    }
  }
  const scopes = ['user_access', 'account_manage']
  const owner = await temporary.addUser('owner@example.org', scopes)
  const ada = await temporary.addUser('ada@example.org', scopes)
  for (const { userId } of [owner, ada]) await accounts.administration.change(userId, { newPassword: password })
  await takeMails()
  return { ...temporary, send, owner, ada, accounts, login, takeMails, events, store }
}
