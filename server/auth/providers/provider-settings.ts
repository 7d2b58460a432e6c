// An identity provider as the operator names it.

export type ProviderSettings = {
  /** In addresses of this server and in the audit log. */
  readonly id: string
  /** On buttons. */
  readonly name: string
  /** An https URL, or http on this machine; exactly as the provider says it but for a slash at its end. */
  readonly issuer: string
  readonly clientId: string
  /** Missing for a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined
  /** The operator trusts the provider with every account whose address it vouches for. */
  readonly linksByAddress: boolean
  /** Hosts besides the issuer's that the operator knows, wherever they are; with a port unless it is that of https. */
  readonly hosts: readonly string[]
  /** Certificates (PEM) to trust in the place of the system's. */
  readonly ca: string | undefined
}

/** One spelling of an issuer, to compare by. */
export function issuerKey(issuer: string): string {
  return (URL.parse(issuer)?.href ?? issuer).replace(/\/$/, '')
}

/** Where nothing leaves the machine, TLS is not needed. */
export function isOnThisMachine({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** The address here, after the origin, that this provider sends people back to: one for each, so that answers are not mixed up. */
export const backPath = (providerId: string): string => `/sign-in/with/${providerId}/back/`
