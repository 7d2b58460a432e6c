// The one place where this server connects to a camera: to an address that has been tested, plain or with TLS.

import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import type { TestedAddress } from './address-guard.ts'
import type { CameraUrl } from './camera-url.ts'

/**
 * How a camera's TLS is taken. Its certificate is its own, so there is nobody to verify: TLS here keeps out listeners,
 * not impostors. Old versions and ciphers are accepted, because there are cameras that have no others.
 */
const cameraTls = {
  rejectUnauthorized: false,
  minVersion: 'TLSv1',
  ciphers: 'DEFAULT:@SECLEVEL=0',
} as const satisfies ConnectionOptions

/** The name for the TLS handshake; addresses have none. */
function serverNameOf({ host }: CameraUrl): string | undefined {
  return isIP(host.replace(/^\[(.*)\]$/, '$1')) ? undefined : host
}

/** `onread`: as of `net.connect`. */
export function connectCamera(url: CameraUrl, { address, family }: TestedAddress, onread?: OnReadOpts): Socket {
  const at = { host: address, port: url.port, family, noDelay: true, ...(onread && { onread }) }
  if (!url.isTls) return connectTcp(at)
  const servername = serverNameOf(url)
  // Node documents `family`, `noDelay` and `onread` here too; its types leave them out.
  const options: ConnectionOptions = { ...at, ...cameraTls, ...(servername !== undefined && { servername }) }
  return connectTls(options)
}
