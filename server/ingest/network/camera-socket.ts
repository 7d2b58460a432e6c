// The only place where the server connects to a camera. It connects to a checked IP address, with or without TLS.

import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import type { TestedAddress } from './address-guard.ts'
import type { CameraUrl } from './camera-url.ts'

/**
 * TLS options for cameras. Their certificates are self-signed and cannot be verified, so TLS protects against
 * eavesdropping but not against impersonation. Old versions and ciphers are accepted, because some cameras support no
 * others.
 */
const cameraTls = {
  rejectUnauthorized: false,
  minVersion: 'TLSv1',
  ciphers: 'DEFAULT:@SECLEVEL=0',
} as const satisfies ConnectionOptions

/** The server name for the TLS handshake. IP addresses have none. */
function serverNameOf({ host }: CameraUrl): string | undefined {
  return isIP(host.replace(/^\[(.*)\]$/, '$1')) ? undefined : host
}

/** `onread` is the option of `net.connect`. */
export function connectCamera(url: CameraUrl, { address, family }: TestedAddress, onread?: OnReadOpts): Socket {
  const at = { host: address, port: url.port, family, noDelay: true, ...(onread && { onread }) }
  if (!url.isTls) return connectTcp(at)
  const servername = serverNameOf(url)
  // Node documents `family`, `noDelay` and `onread` for this call as well, but its types omit them.
  const options: ConnectionOptions = { ...at, ...cameraTls, ...(servername !== undefined && { servername }) }
  return connectTls(options)
}
