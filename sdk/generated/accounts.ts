// Written from the contract by scripts/write-sdk.ts; change the contract, not this.

import type { Timestamp } from './objects.ts'

export type Account = {
  id: number
  email: string
  first_name: string
  last_name: string
  phone: string | null
  /** Owners manage the server and its users. */
  is_owner: boolean
  created_at: Timestamp
  disabled_at: Timestamp | null
  /** Whether signing in takes more than the password. */
  has_second_factor: boolean
}

export type AccountChange = {
  first_name?: string | undefined
  last_name?: string | undefined
  phone?: string | null | undefined
  email?: string | undefined
  /** Ends all sessions and authorizations. */
  password?: string | undefined
  /** With `password`. */
  revoke_personal_tokens?: boolean | undefined
  is_owner?: boolean | undefined
  /** Blocks sign-in and permanently ends all sessions, authorizations and personal access tokens. The cameras keep running. */
  disabled?: boolean | undefined
  /** Current password of the calling owner. Required with `email`, `password`, and to make an owner. */
  own_password?: string | undefined
}

export type AccountRemoval = {
  /** Also delete the user’s cameras and their footage. Without it, a user with cameras is not deleted. */
  remove_cameras?: boolean | undefined
}

export type AccountRemovalProof = {
  /** Current password of the calling owner. Required always, except from the dashboard. */
  own_password?: string | undefined
}

export type AccountSignOut = {
  /** Also revoke personal access tokens. */
  revoke_personal_tokens?: boolean | undefined
}

export type Application = {
  id: number
  client_id: string
  /** Up to 100 visible characters. */
  name: string
  redirect_uris: string[]
  /** Whether the secret is also required for the password and refresh grants. */
  require_secret: boolean
  /** Whether the application may use the password grant. */
  allow_password: boolean
  /** Whether the application has a secret. Without one, it must use PKCE. */
  confidential: boolean
  /** The most scopes that the application can request. */
  scope: string
  created_at: Timestamp
}

export type ApplicationChange = {
  /** Up to 100 visible characters. */
  name?: string | undefined
  redirect_uris?: string[] | undefined
  /** Whether the secret is also required for the password and refresh grants. */
  require_secret?: boolean | undefined
  /** Whether the application may use the password grant. */
  allow_password?: boolean | undefined
  /** Scopes separated by spaces. The caller must have all of them. */
  scope?: string | undefined
  /** The user’s current password. Required to add a redirect URI or a scope, to allow the password grant, and to stop requiring the secret, except from the dashboard. */
  password?: string | undefined
}

export type ApplicationWithSecret = {
  id: number
  client_id: string
  /** Up to 100 visible characters. */
  name: string
  redirect_uris: string[]
  /** Whether the secret is also required for the password and refresh grants. */
  require_secret: boolean
  /** Whether the application may use the password grant. */
  allow_password: boolean
  /** Whether the application has a secret. Without one, it must use PKCE. */
  confidential: boolean
  /** The most scopes that the application can request. */
  scope: string
  created_at: Timestamp
  /** The secret. It is returned only here; null for a public application. */
  client_secret: string | null
}

export type Authorization = {
  id: number
  application: { name: string }
  scope: string
  created_at: Timestamp
  last_used_at: Timestamp
  last_ip: string
  /** What it was made with. */
  user_agent: string
  expires_at: Timestamp
}

export type CreatedPersonalToken = {
  id: number
  name: string
  scope: string
  /** First characters of the token. */
  prefix: string
  /** Last characters of the token. */
  last_four: string
  created_at: Timestamp
  last_used_at: Timestamp | null
  /** The token itself. It is returned only here. */
  token: string
}

export type Identity = {
  id: number
  /** Null if the provider is no longer configured on the server. Then the identity cannot be used to sign in. */
  provider: { id: string; name: string } | null
  /** OpenID Connect issuer identifier of the provider. */
  issuer: string
  /** Email address that the provider reported last. For display only. */
  email: string | null
  created_at: Timestamp
  last_used_at: Timestamp | null
}

export type IdentityProvider = {
  id: string
  name: string
  /** Whether the caller has linked an account at this provider. */
  is_linked: boolean
  /** Page of this server where a person can link an account at the provider. */
  link_url: string
}

export type MeChange = {
  first_name?: string | undefined
  last_name?: string | undefined
  phone?: string | null | undefined
  /** New email address. Requires `password`. It takes effect when the link sent to it is opened. */
  email?: string | undefined
  /** New password. Requires `password`. Setting it ends all sessions and authorizations. */
  new_password?: string | undefined
  /** Current password. */
  password?: string | undefined
  /** With `new_password`: also revoke personal access tokens. */
  revoke_personal_tokens?: boolean | undefined
}

export type NewAccount = {
  email: string
  password: string
  first_name?: string | undefined
  last_name?: string | undefined
  phone?: string | null | undefined
  is_owner?: boolean | undefined
  /** Current password of the calling owner. Required always, except from the dashboard. */
  own_password?: string | undefined
}

export type NewApplication = {
  redirect_uris?: string[] | undefined
  /** Whether the secret is also required for the password and refresh grants. */
  require_secret?: boolean | undefined
  /** Whether the application may use the password grant. */
  allow_password?: boolean | undefined
  /** Scopes separated by spaces. The caller must have all of them. */
  scope?: string | undefined
  /** Up to 100 visible characters. */
  name: string
  /** Default: true. */
  confidential?: boolean | undefined
  /** The user’s current password. Required, except from the dashboard. */
  password?: string | undefined
}

export type NewInvitation = { email: string }

export type NewPersonalToken = {
  name?: string | undefined
  /** Scopes separated by spaces. The caller must have all of them. Default: `user_access`. */
  scope?: string | undefined
  /** Current password of the user. Required for `account_manage`. */
  password?: string | undefined
}

export type PersonalToken = {
  id: number
  name: string
  scope: string
  /** First characters of the token. */
  prefix: string
  /** Last characters of the token. */
  last_four: string
  created_at: Timestamp
  last_used_at: Timestamp | null
}

export type SecondFactorRemoval = {
  /** Also revoke personal access tokens. */
  revoke_personal_tokens?: boolean | undefined
  /** Current password of the calling owner. Required always, except from the dashboard. */
  own_password?: string | undefined
}

export type SecretRotation = {
  /** The user’s current password. Required, except from the dashboard. */
  password?: string | undefined
}

export type BrowserSession = {
  id: string
  created_at: Timestamp
  last_seen_at: Timestamp
  ip: string
  user_agent: string | null
  /** The second factor of the last sign-in: a code of an authenticator app, a passkey (which may have been used alone), or a recovery code. Null if there was none or if it was not recorded. */
  second_factor: 'app' | 'passkey' | 'recovery_code' | null
  second_factor_at: Timestamp | null
}
