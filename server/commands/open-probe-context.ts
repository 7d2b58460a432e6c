// What commands need that connect to cameras themselves, with or without a running server. The configuration says where
// cameras may be. Unless it names private networks, all are allowed, because whoever can run this command already has
// access to them.

import { systemClock } from '../base/clock.ts'
import { createLogger } from '../base/log.ts'
import type { Config } from '../config.ts'

type Rules = Pick<Config, 'logLevel' | 'allowLoopbackCameras' | 'cameraNetworks' | 'nameServers'>

export async function openProbeContext({ logLevel, allowLoopbackCameras, cameraNetworks, nameServers }: Rules) {
  // Loaded here because other commands open no connections.
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
