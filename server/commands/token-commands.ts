// nightjar token …

import { randomBytes } from 'node:crypto'
import { checkTokenValue, createPersonalToken, describePersonalToken } from '../auth/personal-token.ts'
import { accountScope, defaultScopes, parseScopes } from '../model/access.ts'
import { writeTime } from '../model/time.ts'
import { getFutureTime } from '../model/time-range.ts'
import type { Token } from '../store/accounts/tokens.ts'
import type { Command } from './command.ts'
import { getNamedUser, parseId } from './names.ts'
import { withStore } from './open-data.ts'
import { record } from './record.ts'
import { readSecretOption, secretOptions } from './secret-input.ts'
import { writeTable } from './table.ts'

const tokenCreate: Command = {
  name: 'token create',
  summary: 'Create a personal access token and print it. It is shown only once.',
  positionals: [],
  options: {
    user: { placeholder: 'USER', description: 'Owner of the token: email address or id.', isRequired: true },
    scope: {
      placeholder: 'SCOPES',
      description: `Scopes, separated by spaces. Default: ${defaultScopes.join(' ')}, which covers everything about cameras. Programs that manage the account also need ${accountScope}.`,
    },
    name: { placeholder: 'NAME', description: 'Name to recognize the token by.' },
    expires: {
      placeholder: 'TIME',
      description: 'When it stops working, for example 2027-01-31T12:00Z. Default: never.',
    },
    ...secretOptions('value', {
      what: 'the token itself, of 20 to 256 characters, when moving from another server,',
      otherwise: 'a random one is generated',
    }),
  },
  async run(call) {
    const { config, options } = call
    const scopes = options.scope === undefined ? defaultScopes : parseScopes(options.scope)
    const value = (await readSecretOption(call, tokenCreate, 'value')) ?? createPersonalToken(randomBytes)
    checkTokenValue(value)
    const expiresAtMs = options.expires === undefined ? null : getFutureTime('expires', options.expires, Date.now())
    return withStore(config, async (store) => {
      const user = await getNamedUser(store, options.user!)
      const name = options.name ?? ''
      const own = { userId: user.id, name, scopes, expiresAtMs }
      const token = await store.tokens.insert({ ...own, ...describePersonalToken(value) })
      const detail = { token: token.id, scope: scopes.join(' ') }
      await record(store, { event: 'pat.created', userId: user.id, subject: name, detail })
      return { json: { ...writeToken(token), token: value }, text: value }
    })
  },
}

const tokenList: Command = {
  name: 'token list',
  summary: 'List personal access tokens.',
  positionals: [],
  options: { user: { placeholder: 'USER', description: 'Only tokens of this user: email address or id.' } },
  run: ({ config, options }) =>
    withStore(config, async (store) => {
      const only = options.user === undefined ? undefined : (await getNamedUser(store, options.user)).id
      const tokens = await store.tokens.list(only)
      const emails = new Map((await store.users.list()).map((user) => [user.id, user.email]))
      const rows = tokens.map((token) => [
        String(token.id),
        `${token.prefix}…${token.lastFour}`,
        emails.get(token.userId) ?? String(token.userId),
        token.name,
        token.scopes.join(' '),
        token.lastUsedAtMs === null ? 'never' : writeTime(token.lastUsedAtMs),
        writeState(token),
      ])
      const titles = ['ID', 'TOKEN', 'USER', 'NAME', 'SCOPE', 'LAST USED', 'STATE']
      return { json: { tokens: tokens.map(writeToken) }, text: writeTable(titles, rows, 'There are no tokens.') }
    }),
}

const tokenRevoke: Command = {
  name: 'token revoke',
  summary: 'Revoke a personal access token.',
  positionals: ['TOKEN_ID'],
  options: {},
  run: ({ config, positionals }) =>
    withStore(config, async (store) => {
      const id = parseId('token', positionals[0]!)
      const isNew = await store.tokens.revoke(id)
      const token = (await store.tokens.list()).find((one) => one.id === id)
      if (isNew && token) {
        const { userId, name: subject } = token
        await record(store, { event: 'pat.revoked', userId, subject, detail: { token: id } })
      }
      return { json: { id, revoked: true }, text: isNew ? `Revoked token ${id}.` : `Token ${id} was already revoked.` }
    }),
}

export const tokenCommands: readonly Command[] = [tokenCreate, tokenList, tokenRevoke]

function writeState({ revokedAtMs, expiresAtMs }: Token): string {
  if (revokedAtMs !== null) return `${revokedAtMs === expiresAtMs ? 'expired' : 'revoked'} ${writeTime(revokedAtMs)}`
  return expiresAtMs === null ? '' : `expires ${writeTime(expiresAtMs)}`
}

function writeToken(token: Token) {
  const timeOrNull = (unixMs: number | null) => (unixMs === null ? null : writeTime(unixMs))
  return {
    id: token.id,
    user_id: token.userId,
    name: token.name,
    scope: token.scopes.join(' '),
    prefix: token.prefix,
    last_four: token.lastFour,
    created_at: writeTime(token.createdAtMs),
    last_used_at: timeOrNull(token.lastUsedAtMs),
    expires_at: timeOrNull(token.expiresAtMs),
    revoked_at: timeOrNull(token.revokedAtMs),
  }
}
