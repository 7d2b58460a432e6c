// nightjar user …-second-factor: lets the operator help users who lost their second factor, and set the requirement for
// owners.

import { writeTime } from '../model/time.ts'
import type { Command } from './command.ts'
import { getNamedUser } from './names.ts'
import { withStore } from './open-data.ts'
import { record } from './record.ts'
import { writeTable } from './table.ts'

const userSecondFactor: Command = {
  name: 'user second-factor',
  summary: 'Show the second factors of an account.',
  positionals: ['USER'],
  options: {},
  run: ({ config, positionals }) =>
    withStore(config, async (store) => {
      const user = await getNamedUser(store, positionals[0]!)
      const { passkeys, appSinceMs, recoveryCodesLeft } = await store.secondFactors.list(user.id)
      const app = appSinceMs === null ? [] : [['authenticator app', '', writeTime(appSinceMs), '']]
      const rows = passkeys.map(({ name, createdAtMs, lastUsedAtMs }) => [
        ...['passkey', name, writeTime(createdAtMs)],
        lastUsedAtMs === null ? '' : writeTime(lastUsedAtMs),
      ])
      const table = writeTable(
        ['KIND', 'NAME', 'ADDED', 'LAST USED'],
        [...app, ...rows],
        `${user.email} has no second factor.`,
      )
      return {
        json: {
          id: user.id,
          app_added_at: appSinceMs === null ? null : writeTime(appSinceMs),
          passkeys: passkeys.map(({ id, name, createdAtMs, lastUsedAtMs }) => ({
            id,
            name,
            added_at: writeTime(createdAtMs),
            last_used_at: lastUsedAtMs === null ? null : writeTime(lastUsedAtMs),
          })),
          recovery_codes_left: recoveryCodesLeft,
        },
        text: user.hasSecondFactor ? `${table}\nRecovery codes left: ${recoveryCodesLeft}` : table,
      }
    }),
}

const userRemoveSecondFactor: Command = {
  name: 'user remove-second-factor',
  summary:
    'Remove the passkeys, authenticator app and recovery codes of a user who lost them. Browsers and applications are signed out.',
  positionals: ['USER'],
  options: { 'revoke-tokens': { description: 'Also revoke personal access tokens.' } },
  run: ({ config, positionals, switches }) =>
    withStore(config, async (store) => {
      const { id } = await getNamedUser(store, positionals[0]!)
      const personalTokens = switches.has('revoke-tokens')
      const user = await store.transaction(async ({ secondFactors, accounts }) => {
        await secondFactors.removeAll(id)
        return accounts.signOut(id, 'support', { personalTokens })
      })
      const detail = { personal_tokens_revoked: personalTokens }
      await record(store, { event: 'second_factor.removed', userId: id, subject: user.email, detail })
      const text = `User ${id}, ${user.email}, signs in with the password alone from now on.`
      return { json: { id, removed: true }, text }
    }),
}

const userRequireSecondFactor: Command = {
  name: 'user require-second-factor',
  summary: 'Require a second factor for owners. Owners without one must set it up at their next sign-in.',
  positionals: [],
  options: { undo: { description: 'Remove the requirement.' } },
  run: ({ config, switches }) =>
    withStore(config, async (store) => {
      const requiredOf = switches.has('undo') ? 'nobody' : 'owners'
      await store.settings.setSecondFactorRequired(requiredOf === 'owners')
      await record(store, {
        event: 'settings.changed',
        userId: null,
        subject: null,
        detail: { second_factor_required: requiredOf },
      })
      const text = requiredOf === 'owners' ? 'Owners need a second factor.' : 'Owners need no second factor any more.'
      return { json: { second_factor_required: requiredOf }, text }
    }),
}

export const secondFactorCommands: readonly Command[] = [
  userSecondFactor,
  userRemoveSecondFactor,
  userRequireSecondFactor,
]
