// nightjar user …

import { checkPassword, hashPassword } from '../auth/password.ts'
import { AppError } from '../base/error.ts'
import { parseEmail } from '../model/email.ts'
import { writeTime } from '../model/time.ts'
import type { User } from '../store/users.ts'
import { type Command, type CommandCall, UsageError } from './command.ts'
import { getNamedUser, parseNewId } from './names.ts'
import { withStore } from './open-data.ts'
import { writeTable } from './table.ts'
import { readHidden, readPiped } from './terminal.ts'

const userAdd: Command = {
  name: 'user add',
  summary: 'Makes an account.',
  positionals: [],
  options: {
    email: { placeholder: 'EMAIL', sentence: 'Address, the name of the account.', isRequired: true },
    password: {
      placeholder: 'PASSWORD',
      sentence: 'Password of 8 to 256 characters; other users of this machine may see it.',
    },
    'password-stdin': { sentence: 'Reads the password from standard input. Without either, it is asked for.' },
    'first-name': { placeholder: 'NAME', sentence: 'First name.' },
    'last-name': { placeholder: 'NAME', sentence: 'Last name.' },
    id: { placeholder: 'N', sentence: 'Id, when moving from another server. Default: the next free one.' },
  },
  async run(call) {
    const { options, config } = call
    const email = parseEmail(options.email!)
    const id = parseNewId(options.id)
    const passwordHash = await hashPassword(await readPassword(call))
    const { 'first-name': firstName = '', 'last-name': lastName = '' } = options
    return withStore(
      config,
      async (store) => {
        const user = await store.users.insert({ id, email, firstName, lastName, passwordHash })
        return { json: writeUser(user), text: `Added user ${user.id}, ${user.email}.` }
      },
      { isCreated: true },
    )
  },
}

const userList: Command = {
  name: 'user list',
  summary: 'Lists the accounts.',
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
        user.disabledAtMs === null ? '' : `disabled ${writeTime(user.disabledAtMs)}`,
      ])
      const text = writeTable(['ID', 'EMAIL', 'NAME', 'CREATED', 'STATE'], rows, 'There are no users.')
      return { json: { users: users.map(writeUser) }, text }
    }),
}

const userDisable: Command = {
  name: 'user disable',
  summary: 'Shuts an account: its tokens and media URLs are refused. Cameras and recordings stay.',
  positionals: ['USER'],
  options: { undo: { sentence: 'Opens it again.' } },
  run: ({ config, positionals, switches }) =>
    withStore(config, async (store) => {
      const { id } = await getNamedUser(store, positionals[0]!)
      const isDisabled = !switches.has('undo')
      const user = await store.users.setDisabled(id, isDisabled)
      return { json: writeUser(user), text: `User ${id}, ${user.email}, is ${isDisabled ? 'disabled' : 'enabled'}.` }
    }),
}

export const userCommands: readonly Command[] = [userAdd, userList, userDisable]

async function readPassword({ options, switches, terminal }: CommandCall): Promise<string> {
  const { password } = options
  if (password !== undefined && switches.has('password-stdin')) {
    throw new UsageError('--password and --password-stdin exclude each other', userAdd)
  }
  if (password !== undefined) return password
  if (switches.has('password-stdin')) return readPiped(terminal)
  if (!terminal.stdin.isTTY) throw new UsageError('give --password or --password-stdin', userAdd)
  const entered = await readHidden(terminal, 'Password: ')
  checkPassword(entered)
  if ((await readHidden(terminal, 'Again: ')) !== entered) throw new AppError('invalid', 'the two passwords differ')
  return entered
}

function writeUser(user: User) {
  return {
    id: user.id,
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    phone: user.phone,
    created_at: writeTime(user.createdAtMs),
    disabled_at: user.disabledAtMs === null ? null : writeTime(user.disabledAtMs),
  }
}
