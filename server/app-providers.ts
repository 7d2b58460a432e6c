// Wires up the configured identity providers and the HTTP client that reaches them.

import { createOutgoingFetch } from './auth/providers/outgoing-fetch.ts'
import { ProviderClient } from './auth/providers/provider-client.ts'
import { backPath } from './auth/providers/provider-settings.ts'
import type { Clock } from './base/clock.ts'
import { AppError } from './base/error.ts'
import type { Logger } from './base/log.ts'
import { NameResolver } from './base/names/name-resolver.ts'
import { createAddressRules } from './config/derived-settings.ts'
import { loadIdentityProviders } from './config/identity-providers.ts'
import type { Config } from './config.ts'
import { createAddressGuard } from './ingest/network/address-guard.ts'

export type IdentityProvidersOptions = {
  readonly config: Config
  readonly port: number
  readonly publicUrl: string
  readonly clock: Clock
  readonly log: Logger
}

/** Sends no request yet. Throws 'invalid' if the file became invalid after the configuration was read. */
export async function openIdentityProviders(options: IdentityProvidersOptions): Promise<readonly ProviderClient[]> {
  const { config, port, publicUrl, clock, log } = options
  const faults: string[] = []
  const providers = await loadIdentityProviders(config.identityProviders, faults)
  if (faults.length > 0) throw new AppError('invalid', faults.join('\n'))
  if (providers.length === 0) return []
  const names = new NameResolver({ clock, servers: config.nameServers })
  const guard = createAddressGuard({
    ...createAddressRules(config, { port, publicUrl }),
    // URLs that a provider supplies must not reach internal networks, whatever is allowed for cameras.
    allowLoopback: false,
    allowedPrivate: [],
    lookupAll: (host, lookup) => names.lookup(host, lookup),
  })
  return providers.map((settings) => {
    const fetch = createOutgoingFetch({
      provider: settings,
      lookup: (host, lookup) => names.lookup(host, lookup),
      lookupPublic: (host, at, lookup) => guard.resolve(host, at, lookup),
    })
    return new ProviderClient({ settings, redirectUri: `${publicUrl}${backPath(settings.id)}`, fetch, clock, log })
  })
}
