// The dashboard as an OAuth client: a public one of the server's own. Its users are not asked, because nobody else answers at its
// address; what it is granted ends with the browser's session.

import { accountScope } from '../../model/access.ts'
import type { BuiltIn } from '../../store/accounts/applications.ts'

export const dashboardClientId = 'nightjar-dashboard'

/** How long credentials and accounts may be changed after the password was given for it. */
export const accountGrantMs = 10 * 60_000

export function createDashboardClient(publicUrl: string): BuiltIn {
  return {
    clientId: dashboardClientId,
    name: 'Nightjar',
    redirectUris: [`${publicUrl}/signed-in`],
    scopes: ['user_access', accountScope],
  }
}

/** Whether the password is to be given first, to whatever application it is granted: what could be made with it outlives the session. */
export function needsPassword({ scopes }: { readonly scopes: readonly string[] }): boolean {
  return scopes.includes(accountScope)
}
