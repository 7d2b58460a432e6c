// Where other servers reach one: a name or an address, and a port.

export type PeerAddress = { readonly host: string; readonly port: number }

/** `n1.internal:8444` or `[fd00::1]:8444`; undefined for anything else. */
export function parsePeerAddress(text: string): PeerAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-f:.]{2,45})\]|([\w.-]{1,253})):(\d{1,5})$/i.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined
}

export const writePeerAddress = ({ host, port }: PeerAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
