// What each scope allows an application to do, as shown on the consent page.

import type { Scope } from '../access.ts'

export const scopeDescriptions: Readonly<Record<Scope, string>> = {
  user_access: 'View and change all your cameras, recordings, guests and events',
  read: 'View your cameras, live video, recordings, guests and events',
  write: 'Add, change and remove cameras, recordings, guests and events',
  camera_access: 'View your cameras and their live video',
  camera_guest_access: 'See who your cameras are shared with',
  recording_access: 'View recordings',
  event_access: 'View events',
  camera_create: 'Add cameras',
  camera_manage: 'Change cameras',
  camera_delete: 'Remove cameras',
  camera_guest_manage: 'Share your cameras with others and stop sharing them',
  recording_manage: 'Turn recording on and off and change how long recordings are kept',
  recording_start_stop: 'Start and stop recording',
  event_manage: 'Report events',
  account_manage:
    'Manage your account: create and revoke access tokens, register applications, end sessions, and request a change of your email address or password. If you own this server, also manage the accounts of other users',
}

export function describeScopes(scopes: readonly string[]): { name: string; description: string }[] {
  return scopes.map((name) => ({ name, description: scopeDescriptions[name as Scope] ?? name }))
}
