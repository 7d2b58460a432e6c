// The configuration of an identity provider.

export type ProviderSettings = {
  /** Used in URLs of this server and in the audit log. */
  readonly id: string
  /** Shown on buttons. */
  readonly name: string
  /**
   * An https URL, or http on this machine. Must equal the issuer that the provider states, except for a trailing slash.
   */
  readonly issuer: string
  readonly clientId: string
  /** Missing for a public client, which is protected only by PKCE. */
  readonly clientSecret: string | undefined
  /** True if the operator trusts the provider with every account whose email address it verifies. */
  readonly linksByAddress: boolean
  /** Further trusted hosts besides the issuer's, at any IP address; with a port unless it is 443. */
  readonly hosts: readonly string[]
  /** Certificates (PEM) to trust instead of those of the system. */
  readonly ca: string | undefined
}

/** Normalizes an issuer for comparison. */
export function issuerKey(issuer: string): string {
  return (URL.parse(issuer)?.href ?? issuer).replace(/\/$/, '')
}

/** Connections within this machine need no TLS. */
export function isOnThisMachine({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** The path of the redirect URI. Each provider has its own, so that responses cannot be mixed up. */
export const backPath = (providerId: string): string => `/sign-in/with/${providerId}/back/`
