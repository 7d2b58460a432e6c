// The dashboard as a built-in public OAuth client. It needs no consent, because nobody else receives responses at its
// URL. Its grants end with the browser session.

import { accountScope } from '../../model/access.ts'
import type { BuiltIn } from '../../store/accounts/applications.ts'

export const dashboardClientId = 'nightjar-dashboard'

/** How long credentials and accounts may be changed after the user entered the password. */
export const accountGrantMs = 10 * 60_000

export function createDashboardClient(publicUrl: string): BuiltIn {
  return {
    clientId: dashboardClientId,
    name: 'Nightjar',
    redirectUris: [`${publicUrl}/signed-in`],
    scopes: ['user_access', accountScope],
  }
}

/**
 * True if the user must enter the password first, because the requested access can create credentials that outlive the
 * session.
 */
export function needsPassword({ scopes }: { readonly scopes: readonly string[] }): boolean {
  return scopes.includes(accountScope)
}

/**
 * True for a grant that the dashboard gets whenever its page is loaded. The audit has the sign-in of that browser, and
 * these grants would hide everything else.
 */
export function isLoadOfDashboard({ isBuiltIn }: { readonly isBuiltIn: boolean }, scopes: readonly string[]): boolean {
  return isBuiltIn && !needsPassword({ scopes })
}
