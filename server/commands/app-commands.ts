// nightjar app …: OAuth applications that users of this server sign in to.

import { randomBytes } from 'node:crypto'
import { writeApplication } from '../api/answers/account.ts'
import { hashToken } from '../auth/checked-token.ts'
import { checkClientId, checkClientSecret, createClientId, createOAuthSecret } from '../auth/oauth/oauth-secrets.ts'
import { AppError } from '../base/error.ts'
import { parseScopes } from '../model/access.ts'
import { parseAppName } from '../model/oauth/app-name.ts'
import { checkRedirectUri } from '../model/oauth/redirect-uri.ts'
import type { Application, ApplicationChange } from '../store/accounts/applications.ts'
import type { Store } from '../store/store.ts'
import { readChoice } from './choice.ts'
import { type Command, type CommandCall, type CommandOptions, UsageError } from './command.ts'
import { getNamedUser } from './names.ts'
import { withStore } from './open-data.ts'
import { record } from './record.ts'
import { readSecretOption, secretOptions } from './secret-input.ts'
import { writeTable } from './table.ts'

const changeOptions: CommandOptions = {
  'redirect-uris': {
    placeholder: 'URIS',
    description: 'All allowed redirect URIs, separated by spaces. They replace the previous ones.',
  },
  scope: {
    placeholder: 'SCOPES',
    description: 'Scopes that the application may request, separated by spaces. Default: user_access.',
  },
  'require-secret': {
    placeholder: 'YES|NO',
    description: 'Whether the password and refresh grants also require the client secret. Default: no.',
  },
  'allow-password': {
    placeholder: 'YES|NO',
    description: 'Whether the application may use the password grant. Default: yes.',
  },
}

const givenSecret = secretOptions('secret', {
  what: 'the secret itself, when moving from another server,',
  otherwise: 'a random one is generated',
})

const appAdd: Command = {
  name: 'app add',
  summary: 'Register an application and print its client ID and secret. The secret is shown only once.',
  positionals: [],
  options: {
    user: { placeholder: 'USER', description: 'Developer of the application: email address or id.', isRequired: true },
    name: { placeholder: 'NAME', description: 'Name that users see when they sign in.', isRequired: true },
    ...changeOptions,
    public: {
      description:
        'The application cannot keep a secret (a phone app or web page). It uses PKCE and has no client secret.',
    },
    'client-id': { placeholder: 'ID', description: 'Client id to keep when moving from another server.' },
    ...givenSecret,
  },
  async run(call) {
    const { config, options, switches } = call
    const change = readChange(call)
    const isPublic = switches.has('public')
    const given = await readSecret(call, appAdd)
    if (isPublic && given !== undefined) throw new UsageError('a public application has no secret', appAdd)
    const secret = isPublic ? null : (given ?? createOAuthSecret('clientSecret', randomBytes))
    const clientId = options['client-id'] ?? createClientId(randomBytes)
    checkClientId(clientId)
    return withStore(config, async (store) => {
      const owner = await getNamedUser(store, options.user!)
      const application = await store.applications.insert({
        redirectUris: [],
        ...change,
        clientId,
        ownerId: owner.id,
        name: parseAppName(options.name!),
        secretHash: secret === null ? null : hashToken(secret),
      })
      await record(store, { event: 'app.created', ...about(application) })
      return {
        json: { ...writeApplication(application), user_id: owner.id, client_secret: secret },
        text: `Client id      ${clientId}\nClient secret  ${secret ?? 'none'}`,
      }
    })
  },
}

const appList: Command = {
  name: 'app list',
  summary: 'List applications.',
  positionals: [],
  options: { user: { placeholder: 'USER', description: 'Only applications of this user: email address or id.' } },
  run: ({ config, options }) =>
    withStore(config, async (store) => {
      const only = options.user === undefined ? undefined : await getNamedUser(store, options.user)
      const all = await (only ? store.applications.listByOwner(only.id) : store.applications.list())
      const emails = new Map((await store.users.list()).map((user) => [user.id, user.email]))
      const rows = all.map((application) => [
        String(application.id),
        application.clientId,
        application.name,
        emails.get(application.ownerId) ?? '',
        application.scopes.join(' '),
        application.isConfidential ? 'secret' : 'public',
        application.redirectUris.join(' '),
      ])
      const titles = ['ID', 'CLIENT ID', 'NAME', 'USER', 'SCOPE', 'KIND', 'REDIRECT URIS']
      const applications = all.map((each) => ({ ...writeApplication(each), user_id: each.ownerId }))
      return { json: { applications }, text: writeTable(titles, rows, 'There are no applications.') }
    }),
}

const appChange: Command = {
  name: 'app change',
  summary: 'Change an application.',
  positionals: ['APP'],
  options: { name: { placeholder: 'NAME', description: 'Name that users see when they sign in.' }, ...changeOptions },
  run: (call) =>
    withStore(call.config, async (store) => {
      const { name } = call.options
      const change = { ...readChange(call), ...(name !== undefined && { name: parseAppName(name) }) }
      const { id } = await getNamedApplication(store, call.positionals[0]!)
      const application = await store.applications.update(id, change)
      await record(store, { event: 'app.changed', ...about(application) })
      return { json: writeApplication(application), text: `Changed application ${application.clientId}.` }
    }),
}

const appRotate: Command = {
  name: 'app rotate',
  summary: 'Replace the secret of an application and print it. The previous secret stops working.',
  positionals: ['APP'],
  options: givenSecret,
  async run(call) {
    const secret = (await readSecret(call, appRotate)) ?? createOAuthSecret('clientSecret', randomBytes)
    return withStore(call.config, async (store) => {
      const { id, isConfidential } = await getNamedApplication(store, call.positionals[0]!)
      if (!isConfidential) throw new AppError('invalid', 'the application is public and has no secret')
      const application = await store.applications.rotateSecret(id, hashToken(secret))
      await record(store, { event: 'app.secret_rotated', ...about(application) })
      return { json: { ...writeApplication(application), client_secret: secret }, text: secret }
    })
  },
}

const appRemove: Command = {
  name: 'app remove',
  summary: 'Delete an application and revoke its access.',
  positionals: ['APP'],
  options: {},
  run: ({ config, positionals }) =>
    withStore(config, async (store) => {
      const application = await getNamedApplication(store, positionals[0]!)
      await store.applications.remove(application.id)
      await record(store, { event: 'app.removed', ...about(application) })
      const { id, clientId } = application
      return { json: { id, removed: true }, text: `Removed application ${clientId}.` }
    }),
}

export const appCommands: readonly Command[] = [appAdd, appList, appChange, appRotate, appRemove]

/** Finds an application by client id or by id. Throws 'not_found'. */
async function getNamedApplication(store: Pick<Store, 'applications'>, name: string): Promise<Application> {
  const all = await store.applications.list()
  const isId = /^\d{1,15}$/.test(name)
  const found = all.find((each) => each.clientId === name) ?? all.find(({ id }) => isId && id === Number(name))
  if (!found) throw new AppError('not_found', `there is no application ${name}`)
  return found
}

function readChange({ options }: CommandCall): ApplicationChange {
  const uris = options['redirect-uris']?.split(/\s+/).filter((uri) => uri !== '')
  for (const uri of uris ?? []) checkRedirectUri(uri)
  const requiresSecret = readChoice('require-secret', options['require-secret'])
  const allowsPassword = readChoice('allow-password', options['allow-password'])
  return {
    ...(uris && { redirectUris: uris }),
    ...(options.scope !== undefined && { scopes: parseScopes(options.scope) }),
    ...(requiresSecret !== undefined && { requiresSecret }),
    ...(allowsPassword !== undefined && { allowsPassword }),
  }
}

async function readSecret(call: CommandCall, command: Command): Promise<string | undefined> {
  const secret = await readSecretOption(call, command, 'secret')
  if (secret !== undefined) checkClientSecret(secret)
  return secret
}

function about({ ownerId, name, clientId }: Application) {
  return { userId: ownerId, subject: name, detail: { client_id: clientId } }
}
