// What users manage of their own account, and owners of all: extensions of the interface.

import { type Static, Type } from 'typebox'
import { Email, nullable, TimeIn, Timestamp } from './schema.ts'

const nameLimits = { maxLength: 150 }
const emailForm = { format: 'idn-email', minLength: 1, maxLength: 254 }
const passwordLimits = { maxLength: 1024 }

const name = Type.String(nameLimits)
const phone = nullable(Type.String({ maxLength: 32, pattern: '^[0-9+() ./-]*$' }))
const email = Type.String(emailForm)
const password = Type.String(passwordLimits)
const scopeDescription = 'Scopes separated by spaces. The caller must have all of them.'
const scopes = Type.String({ maxLength: 1000, description: scopeDescription })

export const MeChange = Type.Object({
  first_name: Type.Optional(name),
  last_name: Type.Optional(name),
  phone: Type.Optional(phone),
  outage_mails: Type.Optional(
    Type.Boolean({ description: 'Emails when an own camera goes offline or its recording fails.' }),
  ),
  email: Type.Optional(
    Type.String({
      ...emailForm,
      description: 'New email address. Requires `password`. It takes effect when the link sent to it is opened.',
    }),
  ),
  new_password: Type.Optional(
    Type.String({
      ...passwordLimits,
      description: 'New password. Requires `password`. Setting it ends all sessions and authorizations.',
    }),
  ),
  password: Type.Optional(Type.String({ ...passwordLimits, description: 'Current password.' })),
  revoke_personal_tokens: Type.Optional(
    Type.Boolean({ description: 'With `new_password`: also revoke personal access tokens.' }),
  ),
})

export type MeChange = Static<typeof MeChange>

export const TokenPath = Type.Object({ token_id: Type.Integer() })

export const PersonalToken = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  scope: Type.String(),
  prefix: Type.String({ description: 'First characters of the token.' }),
  last_four: Type.String({ description: 'Last characters of the token.' }),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
  expires_at: nullable(Timestamp),
})

export type PersonalToken = Static<typeof PersonalToken>

export const NewPersonalToken = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 200 })),
  scope: Type.Optional(Type.String({ maxLength: 1000, description: `${scopeDescription} Default: \`user_access\`.` })),
  expires_at: Type.Optional(nullable(TimeIn('When the token stops working. Default: null, never.'))),
  password: Type.Optional(
    Type.String({ ...passwordLimits, description: 'Current password of the user. Required for `account_manage`.' }),
  ),
})

export const CreatedPersonalToken = Type.Object({
  ...PersonalToken.properties,
  token: Type.String({ description: 'The token itself. It is returned only here.' }),
})

export const ApplicationPath = Type.Object({ application_id: Type.Integer() })

const application = {
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Up to 100 visible characters.' }),
  redirect_uris: Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), { maxItems: 20 }),
  require_secret: Type.Boolean({
    description: 'Whether the secret is also required for the password and refresh grants.',
  }),
  allow_password: Type.Boolean({ description: 'Whether the application may use the password grant.' }),
}

export const Application = Type.Object({
  id: Type.Integer(),
  client_id: Type.String(),
  ...application,
  confidential: Type.Boolean({ description: 'Whether the application has a secret. Without one, it must use PKCE.' }),
  scope: Type.String({ description: 'The most scopes that the application can request.' }),
  created_at: Timestamp,
})

export type Application = Static<typeof Application>

const applicationOptions = {
  redirect_uris: Type.Optional(application.redirect_uris),
  require_secret: Type.Optional(
    Type.Boolean({
      description:
        'Whether the secret is also required for the password and refresh grants. Default of a new application: false.',
    }),
  ),
  allow_password: Type.Optional(
    Type.Boolean({
      description: 'Whether the application may use the password grant. Default of a new application: true.',
    }),
  ),
  scope: Type.Optional(scopes),
}

/** `needed`: when requests must send it, as part of a sentence; always if undefined. */
const currentPassword = (needed?: string) =>
  Type.Optional(
    Type.String({
      ...passwordLimits,
      description: `The user’s current password. Required${needed ? ` ${needed}` : ''}, except from the dashboard.`,
    }),
  )

export const ApplicationChange = Type.Object({
  name: Type.Optional(application.name),
  ...applicationOptions,
  password: currentPassword(
    'to add a redirect URI or a scope, to allow the password grant, and to stop requiring the secret',
  ),
})

export type ApplicationChange = Static<typeof ApplicationChange>

export const SecretRotation = Type.Object({ password: currentPassword() })

export const NewApplication = Type.Object({
  ...applicationOptions,
  name: application.name,
  confidential: Type.Optional(Type.Boolean({ description: 'Default: true.' })),
  password: currentPassword(),
})

export type NewApplication = Static<typeof NewApplication>

export const ApplicationWithSecret = Type.Object({
  ...Application.properties,
  client_secret: nullable(
    Type.String({ description: 'The secret. It is returned only here; null for a public application.' }),
  ),
})

export const AuthorizationPath = Type.Object({ authorization_id: Type.Integer() })

export const Authorization = Type.Object({
  id: Type.Integer(),
  application: Type.Object({ name: Type.String() }),
  scope: Type.String(),
  created_at: Timestamp,
  last_used_at: Timestamp,
  last_ip: Type.String(),
  user_agent: Type.String({ description: 'What it was made with.' }),
  expires_at: Timestamp,
})

export const SessionPath = Type.Object({ session_id: Type.String() })

export const Session = Type.Object({
  id: Type.String(),
  created_at: Timestamp,
  last_seen_at: Timestamp,
  ip: Type.String(),
  user_agent: nullable(Type.String()),
  second_factor: nullable(
    Type.Enum(['app', 'passkey', 'recovery_code'], {
      description:
        'The second factor of the last sign-in: a code of an authenticator app, a passkey (which may have been used alone), or a recovery code. Null if there was none or if it was not recorded.',
    }),
  ),
  second_factor_at: nullable(Timestamp),
  is_current: Type.Boolean({ description: 'Whether the request comes from the dashboard in this browser session.' }),
})

export const IdentityPath = Type.Object({ identity_id: Type.Integer() })

export const Identity = Type.Object({
  id: Type.Integer(),
  provider: nullable(
    Type.Object(
      { id: Type.String(), name: Type.String() },
      {
        description:
          'Null if the provider is no longer configured on the server. Then the identity cannot be used to sign in.',
      },
    ),
  ),
  issuer: Type.String({ description: 'OpenID Connect issuer identifier of the provider.' }),
  email: nullable(Type.String({ description: 'Email address that the provider reported last. For display only.' })),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
})

export const IdentityProvider = Type.Object({
  id: Type.String(),
  name: Type.String(),
  is_linked: Type.Boolean({ description: 'Whether the caller has linked an account at this provider.' }),
  link_url: Type.String({ description: 'Page of this server where a person can link an account at the provider.' }),
})

const ownPassword = (needed: string) =>
  Type.Optional(
    Type.String({ ...passwordLimits, description: `Current password of the calling owner. Required ${needed}.` }),
  )

export const UserPath = Type.Object({ user_id: Type.Integer() })

export const Account = Type.Object({
  id: Type.Integer(),
  email: Email,
  first_name: Type.String(),
  last_name: Type.String(),
  phone: nullable(Type.String()),
  is_owner: Type.Boolean({ description: 'Owners manage the server and its users.' }),
  created_at: Timestamp,
  disabled_at: nullable(Timestamp),
  has_second_factor: Type.Boolean({ description: 'Whether signing in takes more than the password.' }),
  may_add_cameras: Type.Boolean({
    description:
      'Whether the user may add and test cameras. False for guests, who only watch, until an owner changes it.',
  }),
})

export type Account = Static<typeof Account>

export const NewAccount = Type.Object({
  email,
  password,
  first_name: Type.Optional(name),
  last_name: Type.Optional(name),
  phone: Type.Optional(phone),
  is_owner: Type.Optional(Type.Boolean()),
  own_password: ownPassword('always, except from the dashboard'),
})

export const AccountChange = Type.Object({
  first_name: Type.Optional(name),
  last_name: Type.Optional(name),
  phone: Type.Optional(phone),
  email: Type.Optional(email),
  password: Type.Optional(Type.String({ ...passwordLimits, description: 'Ends all sessions and authorizations.' })),
  revoke_personal_tokens: Type.Optional(Type.Boolean({ description: 'With `password`.' })),
  is_owner: Type.Optional(Type.Boolean()),
  disabled: Type.Optional(
    Type.Boolean({
      description:
        'Blocks sign-in and permanently ends all sessions, authorizations and personal access tokens. The cameras keep running.',
    }),
  ),
  may_add_cameras: Type.Optional(Type.Boolean()),
  own_password: ownPassword('with `email`, `password`, and to make an owner'),
})

export type AccountChange = Static<typeof AccountChange>

export const AccountSignOut = Type.Object({
  revoke_personal_tokens: Type.Optional(Type.Boolean({ description: 'Also revoke personal access tokens.' })),
})

export const SecondFactorRemoval = Type.Object({
  revoke_personal_tokens: Type.Optional(Type.Boolean({ description: 'Also revoke personal access tokens.' })),
  own_password: ownPassword('always, except from the dashboard'),
})

export const AccountRemoval = Type.Object({
  remove_cameras: Type.Optional(
    Type.Boolean({
      description: 'Also delete the user’s cameras and their footage. Without it, a user with cameras is not deleted.',
    }),
  ),
})

export const AccountRemovalProof = Type.Object({
  own_password: ownPassword('always, except from the dashboard'),
})

export const NewInvitation = Type.Object({ email })
