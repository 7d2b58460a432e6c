// /v1/me/: the caller's account, and our extension to change it.

import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Audit } from '../../auth/guard/audit.ts'
import { accountScope } from '../../model/access.ts'
import { emailKey, parseEmail } from '../../model/email.ts'
import type { Store } from '../../store/store.ts'
import { writeUser } from '../answers/user.ts'
import type { Handlers } from '../call.ts'
import { missingField } from '../field-errors.ts'
import { insufficientScope } from '../problem.ts'
import { readChange } from './users.ts'

export type MeHandlersOptions = {
  readonly store: Pick<Store, 'users' | 'cameras' | 'shares' | 'guests'>
  readonly accounts: Pick<Accounts, 'selfService'>
  readonly audit: Pick<Audit, 'write'>
}

export function createMeHandlers({ store, accounts, audit }: MeHandlersOptions): Pick<Handlers, 'getMe' | 'updateMe'> {
  const { users, cameras, shares, guests } = store

  const show = async (userId: number) => {
    const [user, own, shared, withGuests] = await Promise.all([
      users.get(userId),
      cameras.countByOwner(userId),
      shares.countCameras(userId),
      guests.countSharedByOwner(userId),
    ])
    return writeUser(user, { own, shared, withGuests })
  }

  return {
    getMe: ({ caller }) => show(caller.userId),

    async updateMe(call) {
      const { userId, credential } = call.caller
      const { email, password, new_password: newPassword, ...body } = call.body()
      const context = call.context()
      const change = {
        ...readChange(body),
        ...(body.outage_mails !== undefined && { getsOutageMails: body.outage_mails }),
      }
      const present = await users.get(userId)
      const isMoving = email !== undefined && emailKey(email) !== emailKey(present.email)
      if (isMoving || newPassword !== undefined) {
        if (!call.caller.scopes.has(accountScope)) throw insufficientScope([accountScope])
        if (password === undefined) throw missingField('password')
        // Failed guesses count for all tokens together: somebody who has a token can create more, which must not mean
        // more guesses.
        const proof = { proof: credential.kind, hasSecondFactorProof: call.caller.hasGivenPassword === true }
        // The password first: it may be refused, and changing it ends links, including the one for the new address.
        if (isMoving) parseEmail(email)
        if (newPassword !== undefined) {
          const { revoke_personal_tokens: revokePersonalTokens = false } = body
          await accounts.selfService.changePassword({
            userId,
            password,
            ...proof,
            newPassword,
            revokePersonalTokens,
            context,
          })
        }
        if (isMoving)
          await accounts.selfService.requestEmailChange({
            userId,
            email,
            password: newPassword ?? password,
            ...proof,
            context,
          })
      }
      if (Object.keys(change).length > 0) {
        await users.update(userId, change)
        const detail = { fields: Object.keys(change).join(' ') }
        audit.write({ event: 'user.changed', userId, subject: present.email, context, detail })
      }
      return show(userId)
    },
  }
}
