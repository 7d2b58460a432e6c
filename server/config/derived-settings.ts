// Settings of the server's parts that are derived from the configuration.

import type { Config } from '../config.ts'
import type { AddressRules } from '../ingest/network/address-guard.ts'
import { defaultPolicy, type OAuthPolicy } from '../model/oauth/policy.ts'

const dayMs = 24 * 3_600_000

export function createOAuthPolicy(config: Config): OAuthPolicy {
  return {
    ...defaultPolicy,
    accessTokenMs: config.accessTokenSeconds * 1000,
    refreshTokenMs: config.refreshTokenDays * dayMs,
    grantMs: config.grantDays === 0 ? undefined : config.grantDays * dayMs,
    reuseLeewayMs: config.refreshReuseLeewaySeconds * 1000,
    allowsPassword: !config.noPasswordGrant,
  }
}

/** Infinite for no limit. */
export function findSessionAgeLimitMs({ sessionDays }: Pick<Config, 'sessionDays'>): number {
  return sessionDays === 0 ? Number.POSITIVE_INFINITY : sessionDays * dayMs
}

/** Where cameras may be. With open sign-up, private networks are blocked unless the configuration lists them. */
export function createAddressRules(
  config: Config,
  { port, publicUrl }: { port: number; publicUrl: string },
): AddressRules {
  const { hostname, port: publicPort } = new URL(publicUrl)
  return {
    allowLoopback: config.allowLoopbackCameras,
    allowedPrivate: config.cameraNetworks ?? (config.signUp === 'open' ? [] : undefined),
    self: { listenPort: port, publicHost: hostname, publicPort: Number(publicPort || 443) },
  }
}

/** Maximum number of cameras of an account that is not an owner. Undefined means no limit. */
export function findCameraLimit({ cameraLimit }: Pick<Config, 'cameraLimit'>): number | undefined {
  return cameraLimit || undefined
}

/** If a proxy is used and none is listed, it is expected on the same machine. */
export function listTrustedProxies({ behindProxy, trustedProxies }: Config): readonly string[] {
  return behindProxy && trustedProxies.length === 0 ? ['127.0.0.0/8', '::1'] : trustedProxies
}
