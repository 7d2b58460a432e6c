// What users manage of their own account, and owners of all: extensions of the interface.

import { type Static, Type } from 'typebox'
import { Email, nullable, Timestamp } from './schema.ts'

const nameLimits = { maxLength: 150 }
const emailForm = { format: 'idn-email', minLength: 1, maxLength: 254 }
const passwordLimits = { maxLength: 1024 }

const name = Type.String(nameLimits)
const phone = nullable(Type.String({ maxLength: 32, pattern: '^[0-9+() ./-]*$' }))
const email = Type.String(emailForm)
const password = Type.String(passwordLimits)
const scopeWords = 'Scopes separated by spaces; none that the caller does not have.'
const scopes = Type.String({ maxLength: 1000, description: scopeWords })

export const MeChange = Type.Object({
  first_name: Type.Optional(name),
  last_name: Type.Optional(name),
  phone: Type.Optional(phone),
  email: Type.Optional(
    Type.String({ ...emailForm, description: 'Needs `password`; changes once the link sent to it was opened.' }),
  ),
  new_password: Type.Optional(
    Type.String({ ...passwordLimits, description: 'Needs `password`; ends all sessions and authorizations.' }),
  ),
  password: Type.Optional(Type.String({ ...passwordLimits, description: 'The present one.' })),
  revoke_personal_tokens: Type.Optional(
    Type.Boolean({ description: 'With `new_password`: ends personal access tokens too.' }),
  ),
})

export type MeChange = Static<typeof MeChange>

export const TokenPath = Type.Object({ token_id: Type.Integer() })

export const PersonalToken = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  scope: Type.String(),
  prefix: Type.String({ description: 'How the token begins.' }),
  last_four: Type.String({ description: 'How it ends.' }),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
})

export type PersonalToken = Static<typeof PersonalToken>

export const NewPersonalToken = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 200 })),
  scope: Type.Optional(Type.String({ maxLength: 1000, description: `${scopeWords} \`user_access\` when missing.` })),
  password: Type.Optional(
    Type.String({ ...passwordLimits, description: 'The present one of the user; needed for `account_manage`.' }),
  ),
})

export const CreatedPersonalToken = Type.Object({
  ...PersonalToken.properties,
  token: Type.String({ description: 'The token itself; never shown again.' }),
})

export const ApplicationPath = Type.Object({ application_id: Type.Integer() })

const application = {
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Up to 100 characters, all of them visible.' }),
  redirect_uris: Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), { maxItems: 20 }),
  require_secret: Type.Boolean({ description: 'The secret is asked for with the password and refresh grants too.' }),
  allow_password: Type.Boolean({ description: 'Whether the application may use the password grant.' }),
}

export const Application = Type.Object({
  id: Type.Integer(),
  client_id: Type.String(),
  ...application,
  confidential: Type.Boolean({ description: 'Has a secret; without one, PKCE takes its place.' }),
  scope: Type.String({ description: 'What it may ask for at most.' }),
  created_at: Timestamp,
})

export type Application = Static<typeof Application>

export const ApplicationChange = Type.Object({
  name: Type.Optional(application.name),
  redirect_uris: Type.Optional(application.redirect_uris),
  require_secret: Type.Optional(application.require_secret),
  allow_password: Type.Optional(application.allow_password),
  scope: Type.Optional(scopes),
})

export type ApplicationChange = Static<typeof ApplicationChange>

export const NewApplication = Type.Object({
  ...ApplicationChange.properties,
  name: application.name,
  confidential: Type.Optional(Type.Boolean({ description: 'True when missing.' })),
})

export type NewApplication = Static<typeof NewApplication>

export const ApplicationWithSecret = Type.Object({
  ...Application.properties,
  client_secret: nullable(
    Type.String({ description: 'Never shown again; null for an application that is not confidential.' }),
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
})

export const IdentityPath = Type.Object({ identity_id: Type.Integer() })

export const Identity = Type.Object({
  id: Type.Integer(),
  provider: nullable(
    Type.Object(
      { id: Type.String(), name: Type.String() },
      { description: 'Null while the server does not have it among its providers: then nobody signs in with it.' },
    ),
  ),
  issuer: Type.String({ description: 'Of the provider, as OpenID Connect knows it.' }),
  email: nullable(Type.String({ description: 'As the provider said it last; not compared with anything.' })),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
})

export const IdentityProvider = Type.Object({
  id: Type.String(),
  name: Type.String(),
  is_linked: Type.Boolean({ description: 'Whether an account there signs in to the account of the caller.' }),
  link_url: Type.String({ description: 'The page of this server on which a person links an account there.' }),
})

const ownPassword = (needed: string) =>
  Type.Optional(
    Type.String({ ...passwordLimits, description: `The present one of the owner who asks; needed ${needed}.` }),
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
})

export type Account = Static<typeof Account>

export const NewAccount = Type.Object({
  email,
  password,
  first_name: Type.Optional(name),
  last_name: Type.Optional(name),
  phone: Type.Optional(phone),
  is_owner: Type.Optional(Type.Boolean()),
  own_password: ownPassword('unless the dashboard asks, which has just been given it'),
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
      description: 'Ends all sessions, authorizations and personal tokens, for good; the cameras go on.',
    }),
  ),
  own_password: ownPassword('with `email`, `password`, and to make an owner'),
})

export type AccountChange = Static<typeof AccountChange>

export const AccountSignOut = Type.Object({
  revoke_personal_tokens: Type.Optional(Type.Boolean({ description: 'Personal tokens end too.' })),
})

export const AccountRemoval = Type.Object({
  remove_cameras: Type.Optional(
    Type.Boolean({ description: 'Cameras and their footage go too; without, a user who has any is not removed.' }),
  ),
})

export const NewInvitation = Type.Object({ email })
