// /v1/me/applications/: OAuth clients of the caller. Those of others appear not to exist.

import { randomBytes } from 'node:crypto'
import type { ApplicationChange } from '../../../contract/account.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { Caller } from '../../auth/caller.ts'
import { hashToken } from '../../auth/checked-token.ts'
import type { Audit } from '../../auth/guard/audit.ts'
import { createClientId, createOAuthSecret } from '../../auth/oauth/oauth-secrets.ts'
import type { RequestContext } from '../../auth/request-context.ts'
import { AppError } from '../../base/error.ts'
import { defaultScopes, parseScopes } from '../../model/access.ts'
import { parseAppName } from '../../model/oauth/app-name.ts'
import { checkRedirectUri } from '../../model/oauth/redirect-uri.ts'
import type { Application, ApplicationChange as RowChange } from '../../store/accounts/applications.ts'
import type { Store } from '../../store/store.ts'
import { writeApplication } from '../answers/account.ts'
import type { Handlers } from '../call.ts'
import { checkGivenPassword } from '../given-password.ts'
import { checkGrantable } from '../grantable-scopes.ts'
import { pageOf } from '../page-of.ts'

const maxApplications = 100

export type OwnApplicationsOptions = {
  readonly store: Pick<Store, 'applications'>
  readonly accounts: Pick<Accounts, 'selfService'>
  readonly audit: Pick<Audit, 'write'>
  readonly publicUrl: string
}

type Names =
  | 'listApplications'
  | 'createApplication'
  | 'getApplication'
  | 'updateApplication'
  | 'deleteApplication'
  | 'rotateApplicationSecret'

export function createOwnApplicationsHandlers(options: OwnApplicationsOptions): Pick<Handlers, Names> {
  const { audit, publicUrl } = options
  const { applications } = options.store

  const getOwn = async ({ userId }: Caller, id: number): Promise<Application> => {
    const own = (await applications.listByOwner(userId)).find((application) => application.id === id)
    if (!own) throw new AppError('not_found', 'you have no such application')
    return own
  }

  const checkPassword = (
    { caller, context }: { readonly caller: Caller; context(): RequestContext },
    password: string | undefined,
  ) => checkGivenPassword(options.accounts, { caller, password, field: 'password', context: context() })

  return {
    async listApplications(call) {
      const rows = await applications.listByOwner(call.caller.userId)
      return pageOf(call, `${publicUrl}/v1/me/applications/`, rows, writeApplication)
    },

    async createApplication(call) {
      const { userId: ownerId } = call.caller
      const { name: text, confidential = true, scope = defaultScopes.join(' '), password, ...rest } = call.body()
      const name = parseAppName(text)
      const change = readChange({ ...rest, scope }, call.caller)
      if ((await applications.listByOwner(ownerId)).length >= maxApplications) {
        throw new AppError('invalid', `You already have ${maxApplications} applications; delete one first.`)
      }
      await checkPassword(call, password)
      const secret = confidential ? createOAuthSecret('clientSecret', randomBytes) : null
      const application = await applications.insert({
        redirectUris: [],
        ...change,
        clientId: createClientId(randomBytes),
        ownerId,
        name,
        secretHash: secret === null ? null : hashToken(secret),
      })
      audit.write({ event: 'app.created', ...about(application), context: call.context() })
      return { ...writeApplication(application), client_secret: secret }
    },

    async getApplication({ caller, params }) {
      return writeApplication(await getOwn(caller, params.application_id))
    },

    async updateApplication(call) {
      const before = await getOwn(call.caller, call.params.application_id)
      const { password, ...body } = call.body()
      const change = readChange(body, call.caller)
      if (isGrantingMore(change, before)) await checkPassword(call, password)
      const application = await applications.update(before.id, change)
      audit.write({ event: 'app.changed', ...about(application), context: call.context() })
      return writeApplication(application)
    },

    async deleteApplication(call) {
      const application = await getOwn(call.caller, call.params.application_id)
      await applications.remove(application.id)
      audit.write({ event: 'app.removed', ...about(application), context: call.context() })
      return null
    },

    async rotateApplicationSecret(call) {
      const { id, isConfidential } = await getOwn(call.caller, call.params.application_id)
      // It would turn a client that cannot keep a secret into one that is asked for it.
      if (!isConfidential) throw new AppError('invalid', 'The application has no secret.')
      await checkPassword(call, call.body().password)
      const secret = createOAuthSecret('clientSecret', randomBytes)
      const application = await applications.rotateSecret(id, hashToken(secret))
      audit.write({ event: 'app.secret_rotated', ...about(application), context: call.context() })
      return { ...writeApplication(application), client_secret: secret }
    },
  }
}

/** True if codes, secrets or permissions can reach a new recipient, which a stolen token must not be able to do. */
function isGrantingMore(
  change: RowChange,
  { redirectUris, scopes, allowsPassword, requiresSecret }: Application,
): boolean {
  const has = new Set(scopes)
  return (
    change.redirectUris?.some((uri) => !redirectUris.includes(uri)) ||
    change.scopes?.some((scope) => !has.has(scope)) ||
    (change.allowsPassword === true && !allowsPassword) ||
    (change.requiresSecret === false && requiresSecret)
  )
}

function readChange(body: Omit<ApplicationChange, 'password'>, caller: Caller): RowChange {
  const { name, redirect_uris: redirectUris, require_secret: requiresSecret, allow_password: allowsPassword } = body
  for (const uri of redirectUris ?? []) checkRedirectUri(uri)
  const scopes = body.scope === undefined ? undefined : parseScopes(body.scope)
  if (scopes) checkGrantable(scopes, caller)
  return {
    ...(name !== undefined && { name: parseAppName(name) }),
    ...(redirectUris !== undefined && { redirectUris: [...new Set(redirectUris)] }),
    ...(requiresSecret !== undefined && { requiresSecret }),
    ...(allowsPassword !== undefined && { allowsPassword }),
    ...(scopes && { scopes }),
  }
}

function about({ ownerId, name, clientId }: Application) {
  return { userId: ownerId, subject: name, detail: { client_id: clientId } }
}
