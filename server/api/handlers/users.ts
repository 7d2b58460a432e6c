// /v1/users/: accounts of all, for owners of the server.

import type { AccountChange } from '../../../contract/account.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Caller } from '../../auth/caller.ts'
import type { Audit } from '../../auth/guard/audit.ts'
import { AppError } from '../../base/error.ts'
import { getPage } from '../../model/page.ts'
import { parsePersonName } from '../../model/person-name.ts'
import type { Store } from '../../store/store.ts'
import type { UserChange } from '../../store/users.ts'
import { writeAccount } from '../answers/account.ts'
import type { Handlers } from '../call.ts'
import { writeListing } from '../page-of.ts'

export type UserHandlersOptions = {
  readonly store: Pick<Store, 'users'>
  readonly accounts: Pick<
    Accounts,
    'add' | 'invite' | 'setPassword' | 'setEmail' | 'setOwner' | 'disable' | 'enable' | 'remove'
  >
  readonly audit: Pick<Audit, 'write'>
  readonly publicUrl: string
}

type Names = 'listUsers' | 'createUser' | 'inviteUser' | 'getUser' | 'updateUser' | 'deleteUser'

export function createUserHandlers({ store, accounts, audit, publicUrl }: UserHandlersOptions): Pick<Handlers, Names> {
  const { users } = store

  const checkOwner = async ({ userId }: Caller): Promise<void> => {
    if (!(await users.find(userId))?.isOwner) throw new AppError('forbidden', 'only owners manage users')
  }

  return {
    async listUsers(call) {
      await checkOwner(call.caller)
      const page = getPage(call.query())
      const [count, rows] = await Promise.all([users.count(), users.listPage(page)])
      return writeListing(call, `${publicUrl}/v1/users/`, page, count, rows.map(writeAccount))
    },

    async createUser(call) {
      await checkOwner(call.caller)
      const { email, password, first_name: firstName = '', last_name: lastName = '', ...rest } = call.body()
      const { phone = null, is_owner: isOwner = false } = rest
      const by = { byUserId: call.caller.userId, context: call.context() }
      return writeAccount(await accounts.add({ email, password, firstName, lastName, phone, isOwner, ...by }))
    },

    async inviteUser(call) {
      await checkOwner(call.caller)
      const { email } = call.body()
      await accounts.invite({ email, inviterId: call.caller.userId, context: call.context() })
      return null
    },

    async getUser({ caller, params }) {
      await checkOwner(caller)
      return writeAccount(await users.get(params.user_id))
    },

    async updateUser(call) {
      await checkOwner(call.caller)
      const { id: userId, email, isOwner, disabledAtMs } = await users.get(call.params.user_id)
      const body = call.body()
      const isMoving = body.email !== undefined && body.email !== email
      if (userId === call.caller.userId) checkNotOwn({ email: isMoving, password: body.password !== undefined })
      const by = { byUserId: call.caller.userId, context: call.context() }
      const { email: _, ...change } = readChange(body)
      // What may be refused comes first.
      if (body.password !== undefined) {
        const { password: newPassword, revoke_personal_tokens: revokePersonalTokens = false } = body
        await accounts.setPassword({ userId, newPassword, revokePersonalTokens, ...by })
      }
      if (isMoving) await accounts.setEmail(userId, body.email!, by)
      if (body.is_owner !== undefined && body.is_owner !== isOwner) await accounts.setOwner(userId, body.is_owner, by)
      if (Object.keys(change).length > 0) {
        const { email: subject } = await users.update(userId, change)
        const detail = { fields: Object.keys(change).join(' '), by_user: by.byUserId }
        audit.write({ event: 'user.changed', userId, subject, context: by.context, detail })
      }
      if (body.disabled === true && disabledAtMs === null) await accounts.disable(userId, by)
      if (body.disabled === false && disabledAtMs !== null) await accounts.enable(userId, by)
      return writeAccount(await users.get(userId))
    },

    async deleteUser(call) {
      await checkOwner(call.caller)
      const { id } = await users.get(call.params.user_id)
      const { remove_cameras: withCameras = false } = call.query()
      await accounts.remove(id, { withCameras, byUserId: call.caller.userId, context: call.context() })
      return null
    },
  }
}

/** Owners' tokens must not do what takes everybody else the present password. Throws 'invalid' naming the fields. */
function checkNotOwn(isChanged: Readonly<Record<string, boolean>>): void {
  const names = Object.keys(isChanged).filter((name) => isChanged[name])
  if (names.length === 0) return
  const reason = 'Your own is changed at /v1/me/, with your present password.'
  throw new AppError('invalid', reason, { fields: Object.fromEntries(names.map((name) => [name, [reason]])) })
}

/** Names on one line, and what else a row of a user holds. */
export function readChange(body: Pick<AccountChange, 'first_name' | 'last_name' | 'phone' | 'email'>): UserChange {
  const { first_name: firstName, last_name: lastName, phone, email } = body
  return {
    ...(firstName !== undefined && { firstName: parsePersonName(firstName, 'first_name') }),
    ...(lastName !== undefined && { lastName: parsePersonName(lastName, 'last_name') }),
    ...(phone !== undefined && { phone: phone === '' ? null : phone }),
    ...(email !== undefined && { email }),
  }
}
