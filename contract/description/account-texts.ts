// Words and examples of the account, its credentials, and the users of the server.

import type { accountEndpoints } from '../account-endpoints.ts'
import type { Endpoints } from '../endpoints.ts'
import type { OperationText } from './operation-text.ts'
import { pageOf, sampleAccount, sampleApplication, sampleToken, sampleUser } from './samples.ts'

type Names = 'getMe' | keyof typeof accountEndpoints

const newSecret = 'njcs_3k9QmZ1xT7vB2nW8rY5pL0dH6sJ4cF1gE9aU7iO3kM1q0Vt2Xb'
const taken = 'There is an account for the address already.'
const lastOwner = 'The server would have no owner left.'

export const accountTexts: { readonly [Name in Names]: OperationText<Endpoints[Name]> } = {
  getMe: {
    tag: 'Account',
    description: 'Name and address, and how many cameras there are, own and shared.',
    answer: sampleUser,
  },
  updateMe: {
    tag: 'Account',
    description:
      'What the body does not name stays. A new `email` and a `new_password` take the present `password` and the scope `account_manage`. A new address is used once the link sent to it was opened; until then the answer shows the present one. A wrong `password` is 400.',
    bodies: {
      'A name': { first_name: 'Ada', last_name: 'Lind' },
      'A new password': { password: 'correct horse', new_password: 'battery staple at dawn' },
      'A new address': { password: 'correct horse', email: 'ada@home.example.com' },
    },
    answer: sampleUser,
  },
  listTokens: {
    tag: 'Credentials',
    description: 'Without the tokens themselves, of which only hashes are kept.',
    answer: pageOf(sampleToken),
  },
  createToken: {
    tag: 'Credentials',
    description:
      'For programs of the user. It may be given no scope that the token of this request does not have, and it ends with that token, or with what was granted to the application. `account_manage` takes the present `password` of the user: a wrong one is 400 and counts as a log-in that failed. Tokens made in the dashboard last until they are revoked.',
    bodies: {
      'To read': { name: 'Backup script', scope: 'read' },
      'To manage the account': { name: 'Set-up', scope: 'user_access account_manage', password: 'correct horse' },
    },
    answer: { ...sampleToken, token: 'njp_V4m8ZqK1tR7xW2yB9nD5cF3gHj6k2Zp00001' },
  },
  deleteToken: { tag: 'Credentials', description: 'It is refused at once, and so are media addresses it was given.' },
  listApplications: { tag: 'Credentials', description: 'Without their secrets.', answer: pageOf(sampleApplication) },
  createApplication: {
    tag: 'Credentials',
    description:
      'So that it may ask people for access, by OAuth 2.0. An application that cannot keep a secret is registered without one and uses PKCE.',
    bodies: {
      'With a secret, for a server': { name: 'Porch Light', redirect_uris: ['https://porch.example/back'] },
      'Without, for a phone or a browser': {
        name: 'Porch Light',
        redirect_uris: ['porch.example:/back'],
        confidential: false,
        scope: 'read',
      },
    },
    answer: { ...sampleApplication, client_secret: newSecret },
  },
  getApplication: { tag: 'Credentials', description: 'Without its secret.', answer: sampleApplication },
  updateApplication: {
    tag: 'Credentials',
    description: 'What the body does not name stays. `redirect_uris` replaces the whole list.',
    bodies: { 'Another address to come back to': { redirect_uris: ['https://porch.example/welcome'] } },
    answer: { ...sampleApplication, redirect_uris: ['https://porch.example/welcome'] },
  },
  deleteApplication: { tag: 'Credentials', description: 'All its tokens are refused at once.' },
  rotateApplicationSecret: {
    tag: 'Credentials',
    description: 'The earlier one is refused from now on; tokens stay good.',
    answer: { ...sampleApplication, client_secret: newSecret },
    refusals: { 400: 'The application has no secret.' },
  },
  listAuthorizations: {
    tag: 'Credentials',
    description: 'One for each time that an application was let in, newest first.',
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
  deleteAuthorization: { tag: 'Credentials', description: 'The application is refused at once, and has to ask again.' },
  listSessions: {
    tag: 'Credentials',
    description: 'Most recently used first.',
    answer: pageOf({
      id: 'q3Zk1mWvT9yLx0aB',
      created_at: '2026-04-30T09:00:00Z',
      last_seen_at: '2026-05-01T11:57:00Z',
      ip: '203.0.113.9',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0',
    }),
  },
  deleteSession: { tag: 'Credentials', description: 'It has to sign in again.' },
  listIdentityProviders: {
    tag: 'Credentials',
    description:
      'Those of the server’s settings, in their order. To link takes a person at a browser: open `link_url` in one.',
    answer: pageOf({
      id: 'home',
      name: 'Home account',
      is_linked: true,
      link_url: 'https://cameras.example.org/account/providers/',
    }),
  },
  listIdentities: {
    tag: 'Credentials',
    description: 'In the order in which they were linked.',
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
    description: 'Ends all sessions of the account, but that of the dashboard which asks.',
    refusals: { 409: 'Nothing else signs in to the account: it has to have a password first.' },
  },
  listUsers: {
    tag: 'Users',
    description: 'In the order in which they were made, disabled ones included.',
    answer: pageOf(sampleAccount),
  },
  createUser: {
    tag: 'Users',
    description:
      'With a password that its user can change. To let people choose their own, invite them. Takes the present password of the owner who asks, as `own_password`: a wrong one is 400 and counts as a log-in that failed.',
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
    description: 'The link is good once and for 7 days. An address that has an account is answered the same.',
    bodies: { 'An invitation': { email: 'grace@example.com' } },
    refusals: { 429: 'Too many requests, or too many invitations to this address today.' },
  },
  getUser: { tag: 'Users', description: 'As in the list.', answer: sampleAccount },
  updateUser: {
    tag: 'Users',
    description:
      'What the body does not name stays. A new `email` or `password`, and making an owner, take the present password of the owner who asks, as `own_password`. One’s own address and password are changed at `/v1/me/`, which asks for the present password.',
    bodies: { 'Another owner': { is_owner: true, own_password: 'correct horse' }, 'Lock out': { disabled: true } },
    answer: sampleAccount,
    refusals: { 409: `${taken} Or: ${lastOwner.toLowerCase()}` },
  },
  signOutUser: {
    tag: 'Users',
    description:
      'On the user’s request, or when something was stolen: applications and browsers have to sign in again.',
    bodies: { 'Programs too': { revoke_personal_tokens: true } },
  },
  deleteUser: {
    tag: 'Users',
    description: 'For good, with credentials, shares and, where that is asked for, cameras.',
    refusals: {
      409: 'The user has cameras and `remove_cameras` is not given, or the server would have no owner left.',
    },
  },
}
