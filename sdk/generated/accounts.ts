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
  /** Ends all sessions, authorizations and personal tokens, for good; the cameras go on. */
  disabled?: boolean | undefined
  /** The present one of the owner who asks; needed with `email`, `password`, and to make an owner. */
  own_password?: string | undefined
}

export type AccountRemoval = {
  /** Cameras and their footage go too; without, a user who has any is not removed. */
  remove_cameras?: boolean | undefined
}

export type AccountSignOut = {
  /** Personal tokens end too. */
  revoke_personal_tokens?: boolean | undefined
}

export type Application = {
  id: number
  client_id: string
  /** Up to 100 characters, all of them visible. */
  name: string
  redirect_uris: string[]
  /** The secret is asked for with the password and refresh grants too. */
  require_secret: boolean
  /** Whether the application may use the password grant. */
  allow_password: boolean
  /** Has a secret; without one, PKCE takes its place. */
  confidential: boolean
  /** What it may ask for at most. */
  scope: string
  created_at: Timestamp
}

export type ApplicationChange = {
  /** Up to 100 characters, all of them visible. */
  name?: string | undefined
  redirect_uris?: string[] | undefined
  /** The secret is asked for with the password and refresh grants too. */
  require_secret?: boolean | undefined
  /** Whether the application may use the password grant. */
  allow_password?: boolean | undefined
  /** Scopes separated by spaces; none that the caller does not have. */
  scope?: string | undefined
}

export type ApplicationWithSecret = {
  id: number
  client_id: string
  /** Up to 100 characters, all of them visible. */
  name: string
  redirect_uris: string[]
  /** The secret is asked for with the password and refresh grants too. */
  require_secret: boolean
  /** Whether the application may use the password grant. */
  allow_password: boolean
  /** Has a secret; without one, PKCE takes its place. */
  confidential: boolean
  /** What it may ask for at most. */
  scope: string
  created_at: Timestamp
  /** Never shown again; null for an application that is not confidential. */
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
  /** How the token begins. */
  prefix: string
  /** How it ends. */
  last_four: string
  created_at: Timestamp
  last_used_at: Timestamp | null
  /** The token itself; never shown again. */
  token: string
}

export type Identity = {
  id: number
  /** Null while the server does not have it among its providers: then nobody signs in with it. */
  provider: { id: string; name: string } | null
  /** Of the provider, as OpenID Connect knows it. */
  issuer: string
  /** As the provider said it last; not compared with anything. */
  email: string | null
  created_at: Timestamp
  last_used_at: Timestamp | null
}

export type IdentityProvider = {
  id: string
  name: string
  /** Whether an account there signs in to the account of the caller. */
  is_linked: boolean
  /** The page of this server on which a person links an account there. */
  link_url: string
}

export type MeChange = {
  first_name?: string | undefined
  last_name?: string | undefined
  phone?: string | null | undefined
  /** Needs `password`; changes once the link sent to it was opened. */
  email?: string | undefined
  /** Needs `password`; ends all sessions and authorizations. */
  new_password?: string | undefined
  /** The present one. */
  password?: string | undefined
  /** With `new_password`: ends personal access tokens too. */
  revoke_personal_tokens?: boolean | undefined
}

export type NewAccount = {
  email: string
  password: string
  first_name?: string | undefined
  last_name?: string | undefined
  phone?: string | null | undefined
  is_owner?: boolean | undefined
  /** The present one of the owner who asks; needed unless the dashboard asks, which has just been given it. */
  own_password?: string | undefined
}

export type NewApplication = {
  /** Up to 100 characters, all of them visible. */
  name: string
  redirect_uris?: string[] | undefined
  /** The secret is asked for with the password and refresh grants too. */
  require_secret?: boolean | undefined
  /** Whether the application may use the password grant. */
  allow_password?: boolean | undefined
  /** Scopes separated by spaces; none that the caller does not have. */
  scope?: string | undefined
  /** True when missing. */
  confidential?: boolean | undefined
}

export type NewInvitation = { email: string }

export type NewPersonalToken = {
  name?: string | undefined
  /** Scopes separated by spaces; none that the caller does not have. `user_access` when missing. */
  scope?: string | undefined
  /** The present one of the user; needed for `account_manage`. */
  password?: string | undefined
}

export type PersonalToken = {
  id: number
  name: string
  scope: string
  /** How the token begins. */
  prefix: string
  /** How it ends. */
  last_four: string
  created_at: Timestamp
  last_used_at: Timestamp | null
}

export type BrowserSession = {
  id: string
  created_at: Timestamp
  last_seen_at: Timestamp
  ip: string
  user_agent: string | null
}
