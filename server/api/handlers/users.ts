// /v1/users/: all accounts, for owners of the server.

import type { AccountChange } from '../../../contract/account.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Caller } from '../../auth/caller.ts'
import type { RequestContext } from '../../auth/request-context.ts'
import { AppError } from '../../base/error.ts'
import { getPage } from '../../model/page.ts'
import { parsePersonName } from '../../model/person-name.ts'
import type { UserChange } from '../../store/accounts/users.ts'
import type { Store } from '../../store/store.ts'
import { writeAccount } from '../answers/account.ts'
import type { Handlers } from '../call.ts'
import { checkGivenPassword } from '../given-password.ts'
import { checkOwner } from '../owner.ts'
import { writeListing } from '../page-of.ts'

export type UserHandlersOptions = {
  readonly store: Pick<Store, 'users' | 'settings'>
  readonly accounts: Pick<Accounts, 'signUps' | 'selfService' | 'administration'>
  readonly publicUrl: string
}

type Names =
  | 'listUsers'
  | 'createUser'
  | 'inviteUser'
  | 'getUser'
  | 'updateUser'
  | 'signOutUser'
  | 'removeSecondFactor'
  | 'deleteUser'

export function createUserHandlers({ store, accounts, publicUrl }: UserHandlersOptions): Pick<Handlers, Names> {
  const { users } = store

  const checkOwnPassword = (
    { caller, context }: { readonly caller: Caller; context(): RequestContext },
    password: string | undefined,
  ) => checkGivenPassword(accounts, { caller, password, field: 'own_password', context: context() })

  return {
    async listUsers(call) {
      await checkOwner(store, call.caller)
      const page = getPage(call.query())
      const [count, rows] = await Promise.all([users.count(), users.listPage(page)])
      return writeListing(call, `${publicUrl}/v1/users/`, page, count, rows.map(writeAccount))
    },

    async createUser(call) {
      await checkOwner(store, call.caller)
      const { email, password, first_name: firstName = '', last_name: lastName = '', ...rest } = call.body()
      const { phone = null, is_owner: isOwner = false, own_password: ownPassword } = rest
      await checkOwnPassword(call, ownPassword)
      const by = { byUserId: call.caller.userId, context: call.context() }
      return writeAccount(await accounts.signUps.add({ email, password, firstName, lastName, phone, isOwner, ...by }))
    },

    async inviteUser(call) {
      await checkOwner(store, call.caller)
      const { email } = call.body()
      await accounts.signUps.invite({ email, inviterId: call.caller.userId, context: call.context() })
      return null
    },

    async getUser({ caller, params }) {
      await checkOwner(store, caller)
      return writeAccount(await users.get(params.user_id))
    },

    async updateUser(call) {
      await checkOwner(store, call.caller)
      const { id, email, isOwner: wasOwner } = await users.get(call.params.user_id)
      const {
        password,
        own_password: ownPassword,
        disabled,
        is_owner: isOwner,
        revoke_personal_tokens: revokePersonalTokens,
        may_add_cameras: mayAddCameras,
        ...body
      } = call.body()
      const isMoving = body.email !== undefined && body.email !== email
      if (id === call.caller.userId) checkNotOwn({ email: isMoving, password: password !== undefined })
      // Each of these gives access to an account or to the server: whoever reads the email of an account can reset its
      // password.
      const isOpening = isMoving || password !== undefined || (isOwner === true && !wasOwner)
      if (isOpening) await checkOwnPassword(call, ownPassword)
      const change = {
        ...readChange(body),
        ...(isMoving && { email: body.email }),
        ...(password !== undefined && { newPassword: password }),
        ...(revokePersonalTokens !== undefined && { revokePersonalTokens }),
        ...(isOwner !== undefined && { isOwner }),
        ...(mayAddCameras !== undefined && { mayAddCameras }),
        ...(disabled !== undefined && { isDisabled: disabled }),
      }
      return writeAccount(
        await accounts.administration.change(id, change, { byUserId: call.caller.userId, context: call.context() }),
      )
    },

    async signOutUser(call) {
      await checkOwner(store, call.caller)
      const { id } = await users.get(call.params.user_id)
      const { revoke_personal_tokens: revokePersonalTokens = false } = call.body()
      await accounts.administration.signOut(id, {
        revokePersonalTokens,
        byUserId: call.caller.userId,
        context: call.context(),
      })
      return null
    },

    async removeSecondFactor(call) {
      await checkOwner(store, call.caller)
      const { id } = await users.get(call.params.user_id)
      const { own_password: ownPassword, revoke_personal_tokens: revokePersonalTokens = false } = call.body()
      const { userId: byUserId } = call.caller
      if (id === byUserId)
        throw new AppError('invalid', 'Remove your own second factor on its page in the account settings.')
      // It reduces the protection of the account to its password.
      await checkOwnPassword(call, ownPassword)
      await accounts.administration.removeSecondFactor(id, { revokePersonalTokens, byUserId, context: call.context() })
      return null
    },

    async deleteUser(call) {
      await checkOwner(store, call.caller)
      const { id } = await users.get(call.params.user_id)
      const { remove_cameras: withCameras = false } = call.query()
      await checkOwnPassword(call, call.body().own_password)
      await accounts.administration.remove(id, { withCameras, byUserId: call.caller.userId, context: call.context() })
      return null
    },
  }
}

/**
 * Owners' tokens must not be able to do what requires the current password of everybody else. Throws 'invalid' naming
 * the fields.
 */
function checkNotOwn(isChanged: Readonly<Record<string, boolean>>): void {
  const names = Object.keys(isChanged).filter((name) => isChanged[name])
  if (names.length === 0) return
  const reason = 'Your own is changed at /v1/me/, with your present password.'
  throw new AppError('invalid', reason, { fields: Object.fromEntries(names.map((name) => [name, [reason]])) })
}

/** Normalizes names to one line and converts the remaining fields to a row. */
export function readChange(body: Pick<AccountChange, 'first_name' | 'last_name' | 'phone'>): UserChange {
  const { first_name: firstName, last_name: lastName, phone } = body
  return {
    ...(firstName !== undefined && { firstName: parsePersonName(firstName, 'first_name') }),
    ...(lastName !== undefined && { lastName: parsePersonName(lastName, 'last_name') }),
    ...(phone !== undefined && { phone: phone === '' ? null : phone }),
  }
}
