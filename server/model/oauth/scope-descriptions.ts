// What each scope allows an application to do, as shown on the consent page.

import type { Scope } from '../access.ts'

export const scopeWords: Readonly<Record<Scope, string>> = {
  user_access: 'See and change all your cameras, recordings, guests and events',
  read: 'See your cameras, live pictures, recordings, guests and events',
  write: 'Add, change and remove cameras, recordings, guests and events',
  camera_access: 'See your cameras and their live pictures',
  camera_guest_access: 'See who your cameras are shared with',
  recording_access: 'See recordings',
  event_access: 'See events',
  camera_create: 'Add cameras',
  camera_manage: 'Change cameras',
  camera_delete: 'Remove cameras',
  camera_guest_manage: 'Share your cameras with others and end it',
  recording_manage: 'Turn recording on and off and change how long recordings are kept',
  recording_start_stop: 'Start and stop recording',
  event_manage: 'Report events',
  account_manage:
    'Manage your account: make and revoke access tokens, register applications, end sign-ins, ask for a new address or password; if you own this server, manage the accounts of everybody else too',
}

export function describeScopes(scopes: readonly string[]): { name: string; words: string }[] {
  return scopes.map((name) => ({ name, words: scopeWords[name as Scope] ?? name }))
}
