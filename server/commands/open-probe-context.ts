// What commands need that look at cameras themselves, beside a server or without one. Where cameras may be is what the configuration
// says; private networks are open to them unless it names some, because whoever has this command line is in them already.

import { systemClock } from '../base/clock.ts'
import { createLogger } from '../base/log.ts'
import type { Config } from '../config.ts'

type Rules = Pick<Config, 'logLevel' | 'allowLoopbackCameras' | 'cameraNetworks' | 'nameServers'>

export async function openProbeContext({ logLevel, allowLoopbackCameras, cameraNetworks, nameServers }: Rules) {
  // Loaded only here: other commands open no connections.
  const { createAddressGuard } = await import('../ingest/network/address-guard.ts')
  const { NameResolver } = await import('../base/names/name-resolver.ts')
  const names = new NameResolver({ servers: nameServers })
  return {
    clock: systemClock,
    log: createLogger(logLevel === 'info' ? 'error' : logLevel),
    addressGuard: createAddressGuard({
      allowLoopback: allowLoopbackCameras,
      allowedPrivate: cameraNetworks,
      lookupAll: (host, options) => names.lookup(host, options),
    }),
    signal: new AbortController().signal,
  }
}
