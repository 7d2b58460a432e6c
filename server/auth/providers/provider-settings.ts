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
  /** True if the operator assigns the addresses at the provider: they count as verified, unless it says they are not. */
  readonly assignsAddresses: boolean
  /** How this server proves who it is; undefined: what the provider supports. */
  readonly authMethod: AuthMethod | undefined
  /** True if the provider sends its answers as forms, as Apple does. */
  readonly answersByForm: boolean
  /** Further trusted hosts besides the issuer's, at any IP address; with a port unless it is 443. */
  readonly hosts: readonly string[]
  /** Certificates (PEM) to trust instead of those of the system. */
  readonly ca: string | undefined
}

/** Names as in OpenID Connect Core, section 9. */
export const authMethods = ['client_secret_basic', 'client_secret_post', 'none'] as const
export type AuthMethod = (typeof authMethods)[number]

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
