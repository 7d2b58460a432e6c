// The account itself, and what belongs to it: tokens, applications, authorizations, sessions in browsers.

import type { Body, Call, CallOptions, Query } from '../call.ts'
import { iteratePages } from '../pages.ts'

type List = Query<'listTokens'>

export type Me = ReturnType<typeof createMe>
export type Tokens = ReturnType<typeof createTokens>
export type Applications = ReturnType<typeof createApplications>
export type Authorizations = ReturnType<typeof createAuthorizations>
export type Sessions = ReturnType<typeof createSessions>

export type Identities = ReturnType<typeof createIdentities>

export const createMe = (call: Call) => ({
  get: (options?: CallOptions) => call('getMe', {}, options),
  /** Updates the fields that the body contains. */
  update: (body: Body<'updateMe'>, options?: CallOptions) => call('updateMe', { body }, options),
  /** Storage used by recordings, and how long the free space will last. */
  getStorage: (options?: CallOptions) => call('getStorage', {}, options),
})

/** Personal access tokens. */
export const createTokens = (call: Call) => ({
  list: (query: List = {}, options?: CallOptions) => call('listTokens', { query }, options),
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listTokens', { query: page }, options), query),
  /** The response contains the token itself. It cannot be read again. */
  create: (body: Body<'createToken'>, options?: CallOptions) => call('createToken', { body }, options),
  delete: (id: number, options?: CallOptions) => call('deleteToken', { params: { token_id: id } }, options),
})

/** Applications that the account has registered. */
export const createApplications = (call: Call) => ({
  list: (query: List = {}, options?: CallOptions) => call('listApplications', { query }, options),
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listApplications', { query: page }, options), query),
  /** The response contains the client secret. It cannot be read again. */
  create: (body: Body<'createApplication'>, options?: CallOptions) => call('createApplication', { body }, options),
  get: (id: number, options?: CallOptions) => call('getApplication', { params: { application_id: id } }, options),
  update: (id: number, body: Body<'updateApplication'>, options?: CallOptions) =>
    call('updateApplication', { params: { application_id: id }, body }, options),
  delete: (id: number, options?: CallOptions) => call('deleteApplication', { params: { application_id: id } }, options),
  /** Replaces the client secret. The response contains the new one; the previous one stops working. */
  rotateSecret: (id: number, body: Body<'rotateApplicationSecret'> = {}, options?: CallOptions) =>
    call('rotateApplicationSecret', { params: { application_id: id }, body }, options),
})

/** Authorizations that the user granted to applications. */
export const createAuthorizations = (call: Call) => ({
  list: (query: List = {}, options?: CallOptions) => call('listAuthorizations', { query }, options),
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listAuthorizations', { query: page }, options), query),
  delete: (id: number, options?: CallOptions) =>
    call('deleteAuthorization', { params: { authorization_id: id } }, options),
})

/** Browsers that are signed in. */
export const createSessions = (call: Call) => ({
  list: (query: List = {}, options?: CallOptions) => call('listSessions', { query }, options),
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listSessions', { query: page }, options), query),
  delete: (id: string, options?: CallOptions) => call('deleteSession', { params: { session_id: id } }, options),
})

/** Accounts at identity providers that can sign in to this account. Users link them in the browser. */
export const createIdentities = (call: Call) => ({
  list: (query: List = {}, options?: CallOptions) => call('listIdentities', { query }, options),
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listIdentities', { query: page }, options), query),
  /** Identity providers that are available for linking. */
  listAllProviders: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listIdentityProviders', { query: page }, options), query),
  /** Unlinks the identity and ends all sessions of the account. */
  delete: (id: number, options?: CallOptions) => call('deleteIdentity', { params: { identity_id: id } }, options),
})
