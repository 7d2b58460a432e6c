// Descriptions and examples for the account, its credentials, and the users of the server.

import type { accountEndpoints } from '../account-endpoints.ts'
import type { Endpoints } from '../endpoints.ts'
import type { OperationText } from './operation-text.ts'
import { pageOf, sampleAccount, sampleApplication, sampleToken, sampleUser } from './samples.ts'

type Names = 'getMe' | keyof typeof accountEndpoints

const newSecret = 'njcs_3k9QmZ1xT7vB2nW8rY5pL0dH6sJ4cF1gE9aU7iO3kM1q0Vt2Xb'
const taken = 'An account with this email address already exists.'
const lastOwner = 'The server would have no owner left.'

export const accountTexts: { readonly [Name in Names]: OperationText<Endpoints[Name]> } = {
  getMe: {
    tag: 'Account',
    description: 'Returns the name, the email address, and the number of own and shared cameras.',
    answer: sampleUser,
  },
  updateMe: {
    tag: 'Account',
    description:
      'Fields that the body omits keep their values. To set a new `email` or `new_password`, send the current `password` and use a token with the scope `account_manage`. A new email address takes effect when the link sent to it is opened; until then, the response shows the current address. If `password` is wrong, the response is 400.',
    bodies: {
      'A name': { first_name: 'Ada', last_name: 'Lind' },
      'A new password': { password: 'correct horse', new_password: 'battery staple at dawn' },
      'A new email address': { password: 'correct horse', email: 'ada@home.example.com' },
    },
    answer: sampleUser,
  },
  listTokens: {
    tag: 'Credentials',
    description: 'The tokens themselves are not returned; only their hashes are stored.',
    answer: pageOf(sampleToken),
  },
  createToken: {
    tag: 'Credentials',
    description:
      'Creates a token for the user’s own programs. The token is returned only once. It cannot have a scope that the token of this request lacks, and it ends with that token or with the authorization of the application. The scope `account_manage` requires the current `password` of the user; if it is wrong, the response is 400, and the request counts as a failed login. Tokens created in the dashboard are valid until they are revoked.',
    bodies: {
      'Read only': { name: 'Backup script', scope: 'read' },
      'Manage the account': { name: 'Set-up', scope: 'user_access account_manage', password: 'correct horse' },
    },
    answer: { ...sampleToken, token: 'njp_V4m8ZqK1tR7xW2yB9nD5cF3gHj6k2Zp00001' },
  },
  deleteToken: {
    tag: 'Credentials',
    description: 'The token and the media URLs it was given stop working immediately.',
  },
  listApplications: { tag: 'Credentials', description: 'Secrets are not returned.', answer: pageOf(sampleApplication) },
  createApplication: {
    tag: 'Credentials',
    description:
      'A registered application can ask users for access with OAuth 2.0. The secret is returned only once. Register an application that cannot keep a secret without one; it uses PKCE. Requires the user’s current `password`.',
    bodies: {
      'Confidential, for a server': {
        name: 'Porch Light',
        redirect_uris: ['https://porch.example/back'],
        password: 'correct horse',
      },
      'Public, for a phone or a browser': {
        name: 'Porch Light',
        redirect_uris: ['porch.example:/back'],
        confidential: false,
        scope: 'read',
        password: 'correct horse',
      },
    },
    answer: { ...sampleApplication, client_secret: newSecret },
  },
  getApplication: { tag: 'Credentials', description: 'The secret is not returned.', answer: sampleApplication },
  updateApplication: {
    tag: 'Credentials',
    description:
      'Fields that the body omits keep their values. `redirect_uris` replaces the whole list. Adding a redirect URI or a scope, allowing the password grant, and no longer requiring the secret need the user’s current `password`.',
    bodies: {
      'Another redirect URI': { redirect_uris: ['https://porch.example/welcome'], password: 'correct horse' },
      'Another name': { name: 'Porch Light' },
    },
    answer: { ...sampleApplication, redirect_uris: ['https://porch.example/welcome'] },
  },
  deleteApplication: { tag: 'Credentials', description: 'All tokens of the application stop working immediately.' },
  rotateApplicationSecret: {
    tag: 'Credentials',
    description:
      'The new secret is returned only once. The previous secret stops working immediately; tokens stay valid. Needs the user’s current `password`.',
    bodies: { 'A new secret': { password: 'correct horse' } },
    answer: { ...sampleApplication, client_secret: newSecret },
    refusals: { 400: 'The application has no secret, or the password is missing or wrong.' },
  },
  listAuthorizations: {
    tag: 'Credentials',
    description: 'Returns one entry for each authorization of an application, newest first.',
    answer: pageOf({
      id: 8,
      application: { name: 'Porch Light' },
      scope: 'read write',
      created_at: '2026-04-30T09:30:00Z',
      last_used_at: '2026-05-01T11:58:07Z',
      last_ip: '203.0.113.9',
      user_agent: 'PorchLight/2.1',
      expires_at: '2026-05-30T11:58:07Z',
    }),
  },
  deleteAuthorization: {
    tag: 'Credentials',
    description: 'All tokens of this authorization stop working immediately. The application must ask the user again.',
  },
  listSessions: {
    tag: 'Credentials',
    description: 'Most recently used first.',
    answer: pageOf({
      id: 'q3Zk1mWvT9yLx0aB',
      created_at: '2026-04-30T09:00:00Z',
      last_seen_at: '2026-05-01T11:57:00Z',
      ip: '203.0.113.9',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0',
      second_factor: 'passkey',
      second_factor_at: '2026-04-30T09:00:00Z',
      is_current: false,
    }),
  },
  deleteSession: { tag: 'Credentials', description: 'The user must sign in again in that browser.' },
  listIdentityProviders: {
    tag: 'Credentials',
    description:
      'Providers are returned in the order of the server’s configuration. Linking requires a browser: open `link_url` in it.',
    answer: pageOf({
      id: 'home',
      name: 'Home account',
      is_linked: true,
      link_url: 'https://cameras.example.org/account/providers/',
    }),
  },
  listIdentities: {
    tag: 'Credentials',
    description: 'Identities are returned in the order in which they were linked.',
    answer: pageOf({
      id: 3,
      provider: { id: 'home', name: 'Home account' },
      issuer: 'https://id.example.org/realms/home',
      email: 'ada@example.org',
      created_at: '2026-04-30T09:00:00Z',
      last_used_at: '2026-05-01T11:57:00Z',
    }),
  },
  deleteIdentity: {
    tag: 'Credentials',
    description: 'This ends all sessions of the account except the current dashboard session.',
    refusals: { 409: 'This is the only way to sign in to the account. Set a password first.' },
  },
  listUsers: {
    tag: 'Users',
    description: 'Users are returned in the order of creation. Disabled users are included.',
    answer: pageOf(sampleAccount),
  },
  createUser: {
    tag: 'Users',
    description:
      'Creates an account with a password that the user can change. To let people choose their own password, invite them instead. Requires the current password of the calling owner in `own_password`; if it is wrong, the response is 400, and the request counts as a failed login.',
    bodies: {
      'An account': {
        email: 'grace@example.com',
        password: 'battery staple at dawn',
        first_name: 'Grace',
        own_password: 'correct horse',
      },
    },
    answer: {
      ...sampleAccount,
      id: 8,
      email: 'grace@example.com',
      first_name: 'Grace',
      last_name: '',
      is_owner: false,
    },
    refusals: { 409: taken },
  },
  inviteUser: {
    tag: 'Users',
    description:
      'Sends a link to create an account. The link works once, within 7 days. The response does not show whether the address already has an account.',
    bodies: { 'An invitation': { email: 'grace@example.com' } },
    refusals: { 429: 'Too many requests, or too many invitations to this address today.' },
  },
  getUser: { tag: 'Users', description: 'Returns the same fields as the list.', answer: sampleAccount },
  updateUser: {
    tag: 'Users',
    description:
      'Fields that the body omits keep their values. To set a new `email` or `password`, or to make the user an owner, send the current password of the calling owner in `own_password`. To change your own address or password, use `/v1/me/`.',
    bodies: { 'Another owner': { is_owner: true, own_password: 'correct horse' }, 'Lock out': { disabled: true } },
    answer: sampleAccount,
    refusals: { 409: `${taken} Or: ${lastOwner.toLowerCase()}` },
  },
  signOutUser: {
    tag: 'Users',
    description:
      'All applications and browsers must sign in again. Use this at the user’s request or when a device was stolen.',
    bodies: { 'Revoke personal access tokens too': { revoke_personal_tokens: true } },
  },
  removeSecondFactor: {
    tag: 'Users',
    description:
      'Removes all passkeys, the authenticator app and the recovery codes. The user then signs in with the password alone; if owners must have a second factor, an owner sets one up at the next sign-in. Browsers and applications must sign in again, and the user is notified by email. Requires the current password of the calling owner in `own_password`. To remove your own second factor, use its page in the account.',
    bodies: { 'A lost phone': { own_password: 'correct horse' } },
    refusals: { 404: 'There is no such user, or the user has no second factor.' },
  },
  deleteUser: {
    tag: 'Users',
    description:
      'This cannot be undone. It also deletes the user’s credentials and shares and, with `remove_cameras`, their cameras. Requires the current password of the calling owner in `own_password`.',
    bodies: { 'Delete a user': { own_password: 'correct horse' } },
    refusals: {
      409: 'The user has cameras and `remove_cameras` is not given, or the server would have no owner left.',
    },
  },
}
