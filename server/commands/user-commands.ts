// nightjar user …

import { writeAccount } from '../api/answers/account.ts'
import { checkPassword, hashPassword } from '../auth/password.ts'
import { AppError } from '../base/error.ts'
import { writeByteSize } from '../model/byte-size.ts'
import { parseEmail } from '../model/email.ts'
import { parsePersonName } from '../model/person-name.ts'
import { writeTime } from '../model/time.ts'
import type { User } from '../store/accounts/users.ts'
import { type Command, type CommandCall, UsageError } from './command.ts'
import { getNamedUser, parseMaxSize, parseNewId } from './names.ts'
import { withStore } from './open-data.ts'
import { record } from './record.ts'
import { readSecretOption, secretOptions } from './secret-input.ts'
import { writeTable } from './table.ts'
import { readHidden } from './terminal.ts'

const passwordOptions = secretOptions('password', {
  what: 'the password, of 8 to 256 characters,',
  otherwise: 'the command asks for it',
})

const userAdd: Command = {
  name: 'user add',
  summary: 'Create an account.',
  positionals: [],
  options: {
    email: { placeholder: 'EMAIL', description: 'Email address of the account.', isRequired: true },
    ...passwordOptions,
    'first-name': { placeholder: 'NAME', description: 'First name.' },
    'last-name': { placeholder: 'NAME', description: 'Last name.' },
    owner: { description: 'The user is an owner, who manages the server and its users.' },
    id: { placeholder: 'N', description: 'Id to keep when moving from another server. Default: the next free id.' },
  },
  async run(call) {
    const { options, config, switches } = call
    const email = parseEmail(options.email!)
    const id = parseNewId(options.id)
    const passwordHash = await hashPassword(await readPassword(call, userAdd, email))
    const firstName = parsePersonName(options['first-name'] ?? '', 'first_name')
    const lastName = parsePersonName(options['last-name'] ?? '', 'last_name')
    const owner = switches.has('owner') ? { isOwner: true } : {}
    return withStore(
      config,
      async (store) => {
        const user = await store.users.insert({ id, email, firstName, lastName, passwordHash, ...owner })
        await record(store, { event: 'user.created', ...about(user), detail: { owner: user.isOwner } })
        return { json: writeAccount(user), text: `Added ${user.isOwner ? 'owner' : 'user'} ${user.id}, ${user.email}.` }
      },
      { isCreated: true },
    )
  },
}

const userList: Command = {
  name: 'user list',
  summary: 'List the accounts.',
  positionals: [],
  options: {},
  run: ({ config }) =>
    withStore(config, async (store) => {
      const users = await store.users.list()
      const rows = users.map((user) => [
        String(user.id),
        user.email,
        `${user.firstName} ${user.lastName}`.trim(),
        writeTime(user.createdAtMs),
        user.isOwner ? 'owner' : '',
        user.disabledAtMs === null ? '' : `disabled ${writeTime(user.disabledAtMs)}`,
      ])
      const text = writeTable(['ID', 'EMAIL', 'NAME', 'CREATED', 'ROLE', 'STATE'], rows, 'There are no users.')
      return { json: { users: users.map(writeAccount) }, text }
    }),
}

const userDisable: Command = {
  name: 'user disable',
  summary:
    'Disable an account. Its browsers, applications and tokens lose access permanently. Its cameras keep recording.',
  positionals: ['USER'],
  options: { undo: { description: 'Enable the account again.' } },
  run: ({ config, positionals, switches }) =>
    withStore(config, async (store) => {
      const { id } = await getNamedUser(store, positionals[0]!)
      const isDisabled = !switches.has('undo')
      const { user } = await store.accounts.change(id, { isDisabled })
      await record(store, { event: isDisabled ? 'user.disabled' : 'user.enabled', ...about(user) })
      return { json: writeAccount(user), text: `User ${id}, ${user.email}, is ${isDisabled ? 'disabled' : 'enabled'}.` }
    }),
}

const userOwner: Command = {
  name: 'user owner',
  summary: 'Make a user an owner of the server, or withdraw that.',
  positionals: ['USER'],
  options: { undo: { description: 'Withdraw ownership.' } },
  run: ({ config, positionals, switches }) =>
    withStore(config, async (store) => {
      const { id } = await getNamedUser(store, positionals[0]!)
      const isOwner = !switches.has('undo')
      const { user } = await store.accounts.change(id, { isOwner })
      await record(store, { event: 'user.changed', ...about(user), detail: { owner: isOwner } })
      return {
        json: writeAccount(user),
        text: `User ${id}, ${user.email}, is ${isOwner ? 'now an' : 'no longer an'} owner.`,
      }
    }),
}

const userPasswd: Command = {
  name: 'user passwd',
  summary: 'Set a new password for an account. Browsers and applications are signed out.',
  positionals: ['USER'],
  options: { ...passwordOptions, 'revoke-tokens': { description: 'Also revoke personal access tokens.' } },
  run: (call) =>
    withStore(call.config, async (store) => {
      const user = await getNamedUser(store, call.positionals[0]!)
      const passwordHash = await hashPassword(await readPassword(call, userPasswd, user.email))
      const personalTokens = call.switches.has('revoke-tokens')
      await store.accounts.change(user.id, { passwordHash }, { personalTokens })
      const detail = { personal_tokens_revoked: personalTokens }
      await record(store, { event: 'password.changed', ...about(user), detail })
      return { json: writeAccount(user), text: `Changed the password of user ${user.id}, ${user.email}.` }
    }),
}

const userSignOut: Command = {
  name: 'user sign-out',
  summary: 'Sign a user out of all browsers and applications.',
  positionals: ['USER'],
  options: { 'revoke-tokens': { description: 'Also revoke personal access tokens.' } },
  run: ({ config, positionals, switches }) =>
    withStore(config, async (store) => {
      const { id } = await getNamedUser(store, positionals[0]!)
      const personalTokens = switches.has('revoke-tokens')
      const user = await store.accounts.signOut(id, 'support', { personalTokens })
      const detail = { personal_tokens_revoked: personalTokens }
      await record(store, { event: 'user.signed_out', ...about(user), detail })
      return { json: { id, signed_out: true }, text: `Signed user ${id}, ${user.email}, out everywhere.` }
    }),
}

const userRemove: Command = {
  name: 'user remove',
  summary: 'Permanently delete an account with its tokens and applications.',
  positionals: ['USER'],
  options: {
    'with-cameras': {
      description:
        'Also delete the cameras of the account and their recordings. Otherwise, the account must have no cameras.',
    },
  },
  run: ({ config, positionals, switches }) =>
    withStore(config, async (store) => {
      const { id } = await getNamedUser(store, positionals[0]!)
      const user = await store.accounts.remove(id, { withCameras: switches.has('with-cameras') })
      await record(store, { event: 'user.removed', ...about(user) })
      return { json: { id, removed: true }, text: `Removed user ${id}, ${user.email}.` }
    }),
}

const userLimit: Command = {
  name: 'user limit',
  summary: 'Set a storage limit for all recordings of a user.',
  positionals: ['USER'],
  options: {
    'max-size': {
      placeholder: 'SIZE',
      description: 'Size limit, for example 500GB, or "none". The oldest recordings are deleted first.',
      isRequired: true,
    },
  },
  run: ({ config, options, positionals }) => {
    const maxBytes = parseMaxSize(options['max-size']) ?? null
    return withStore(config, async (store) => {
      const user = await getNamedUser(store, positionals[0]!)
      await store.userLimits.setMaxBytes(user.id, maxBytes)
      await record(store, { event: 'user.changed', ...about(user), detail: { max_bytes: maxBytes ?? 'none' } })
      const words = maxBytes === null ? 'as much as there is room for' : `at most ${writeByteSize(maxBytes)}`
      return { json: { id: user.id, max_bytes: maxBytes }, text: `User ${user.id}, ${user.email}: ${words}.` }
    })
  },
}

export const userCommands: readonly Command[] = [
  userAdd,
  userList,
  userPasswd,
  userSignOut,
  userOwner,
  userLimit,
  userDisable,
  userRemove,
]

function about(user: User) {
  return { userId: user.id, subject: user.email }
}

async function readPassword(call: CommandCall, command: Command, email: string): Promise<string> {
  const password = await askPassword(call, command)
  await checkPassword(password, [email])
  return password
}

async function askPassword(call: CommandCall, command: Command): Promise<string> {
  const { terminal } = call
  const given = await readSecretOption(call, command, 'password')
  if (given !== undefined) return given
  if (!terminal.stdin.isTTY) throw new UsageError('specify --password-stdin', command)
  const entered = await readHidden(terminal, 'Password: ')
  await checkPassword(entered)
  if ((await readHidden(terminal, 'Again: ')) !== entered) throw new AppError('invalid', 'the two passwords differ')
  return entered
}
