// All accounts of the server, for its owners.

import type { Body, Call, CallOptions, Query } from '../call.ts'
import { iteratePages } from '../pages.ts'

type List = Query<'listUsers'>

export type Users = ReturnType<typeof createUsers>

export const createUsers = (call: Call) => ({
  list: (query: List = {}, options?: CallOptions) => call('listUsers', { query }, options),
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listUsers', { query: page }, options), query),
  create: (body: Body<'createUser'>, options?: CallOptions) => call('createUser', { body }, options),
  /** Sends a link for creating an account. */
  invite: (body: Body<'inviteUser'>, options?: CallOptions) => call('inviteUser', { body }, options),
  get: (id: number, options?: CallOptions) => call('getUser', { params: { user_id: id } }, options),
  update: (id: number, body: Body<'updateUser'>, options?: CallOptions) =>
    call('updateUser', { params: { user_id: id }, body }, options),
  /** Storage used by the recordings of a user. */
  getStorage: (id: number, options?: CallOptions) => call('getUserStorage', { params: { user_id: id } }, options),
  updateStorage: (id: number, body: Body<'updateUserStorage'>, options?: CallOptions) =>
    call('updateUserStorage', { params: { user_id: id }, body }, options),
  /** Ends all sessions and revokes all authorizations of the user. */
  signOut: (id: number, body: Body<'signOutUser'> = {}, options?: CallOptions) =>
    call('signOutUser', { params: { user_id: id }, body }, options),
  /** Removes a lost second factor. The user then signs in with the password alone. */
  removeSecondFactor: (id: number, body: Body<'removeSecondFactor'> = {}, options?: CallOptions) =>
    call('removeSecondFactor', { params: { user_id: id }, body }, options),
  /** `own_password`: the current password of the owner who calls this. */
  delete: (
    id: number,
    { own_password, ...query }: Query<'deleteUser'> & Body<'deleteUser'> = {},
    options?: CallOptions,
  ) => {
    const body = own_password === undefined ? {} : { own_password }
    return call('deleteUser', { params: { user_id: id }, query, body }, options)
  },
})
