// nightjar identity …: identity providers, and the linked identities of users.

import { openIdentityProviders } from '../app-providers.ts'
import { AccountMails } from '../auth/accounts/account-mails.ts'
import { issuerKey } from '../auth/providers/provider-settings.ts'
import { systemClock as clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import { silentLogger as log } from '../base/log.ts'
import { loadIdentityProviders } from '../config/identity-providers.ts'
import type { Config } from '../config.ts'
import { createMailer } from '../mail-delivery.ts'
import { writeTime } from '../model/time.ts'
import type { Command } from './command.ts'
import { getNamedUser } from './names.ts'
import { withStore } from './open-data.ts'
import { record } from './record.ts'
import { writeTable } from './table.ts'
import { publicUrlOf } from './with-guest-service.ts'

const identityProviders: Command = {
  name: 'identity providers',
  summary: 'List the configured identity providers and whether they can be reached.',
  positionals: [],
  options: {},
  async run({ config }) {
    const publicUrl = publicUrlOf(config)
    const clients = await openIdentityProviders({ config, port: config.port, publicUrl, clock, log })
    const states = await Promise.all(
      clients.map(async (client) => {
        const failure = await client.check().then(
          () => null,
          (error: unknown) => errorChain(error),
        )
        const { id, name, issuer } = client.settings
        return { id, name, issuer, is_usable: failure === null, failure }
      }),
    )
    const rows = states.map(({ id, name, issuer, failure }) => [id, name, issuer, failure ?? 'can be used'])
    const none = 'No identity providers are configured. See the option identity-providers.'
    return { json: { providers: states }, text: writeTable(['ID', 'NAME', 'ISSUER', 'NOW'], rows, none) }
  },
}

const identityList: Command = {
  name: 'identity list',
  summary: 'List the linked identities of a user.',
  positionals: ['USER'],
  options: {},
  run: ({ config, positionals }) =>
    withStore(config, async (store) => {
      const user = await getNamedUser(store, positionals[0]!)
      const identities = await store.identities.list(user.id)
      const shown = identities.map(({ id, issuer, subject, email, createdAtMs, usedAtMs }) => ({
        ...{ id, issuer, subject, email },
        created_at: writeTime(createdAtMs),
        last_used_at: usedAtMs === null ? null : writeTime(usedAtMs),
      }))
      const rows = shown.map((each) => [
        ...[String(each.id), each.issuer, each.subject, each.email ?? ''],
        ...[each.created_at, each.last_used_at ?? 'never'],
      ])
      const titles = ['ID', 'ISSUER', 'SUBJECT', 'EMAIL', 'LINKED', 'LAST USED']
      return {
        json: { identities: shown },
        text: writeTable(titles, rows, `${user.email} has no linked identities.`),
      }
    }),
}

const identityRemove: Command = {
  name: 'identity remove',
  summary: 'Unlink an identity. The user is signed out of all browsers.',
  positionals: ['USER', 'ID'],
  options: {},
  run: ({ config, positionals }) =>
    withStore(config, async (store) => {
      const { id: userId } = await getNamedUser(store, positionals[0]!)
      const text = positionals[1]!
      if (!/^\d{1,15}$/.test(text))
        throw new AppError('invalid', `expected the id of a link, got ${JSON.stringify(text)}`)
      const providers = await loadIdentityProviders(config.identityProviders, [])
      const find = (issuer: string) => providers.find((each) => issuerKey(each.issuer) === issuerKey(issuer))
      const isUsable = (issuer: string) => find(issuer) !== undefined
      const { user, identity } = await store.identities.unlink(userId, Number(text), { isUsable })
      const provider = find(identity.issuer)
      const detail = { provider: provider?.id ?? identity.issuer }
      await record(store, { event: 'identity.unlinked', userId, subject: user.email, detail })
      const failure = await notify(
        config,
        (mails) =>
          mails.identity({
            user,
            providerName: provider?.name ?? identity.issuer,
            isLinked: false,
            context: undefined,
          }),
        store,
      )
      const mailNote = failure === undefined ? '' : ` The notification email was not sent: ${failure}`
      return {
        json: { user_id: userId, removed: true, mail_failure: failure ?? null },
        text: `Removed the link of ${user.email} with ${identity.issuer}.${mailNote}`,
      }
    }),
}

/** Why the mail was not sent, or empty if it was. */
async function notify(
  config: Config,
  send: (mails: AccountMails) => Promise<void>,
  store: ConstructorParameters<typeof AccountMails>[0]['store'],
): Promise<string | undefined> {
  const publicUrl = publicUrlOf(config)
  const mailer = createMailer({ config, publicUrl, clock, log })
  try {
    await send(new AccountMails({ store, publicUrl, mailer }))
    return undefined
  } catch (error) {
    return errorChain(error)
  } finally {
    mailer.close()
  }
}

export const identityCommands: readonly Command[] = [identityProviders, identityList, identityRemove]
