// The file of identity providers that a server under test is started with.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type ProviderEntry = {
  readonly id: string
  readonly issuer: string
  /** PEM. */
  readonly ca: string
  readonly more?: Readonly<Record<string, unknown>>
}

export const clientSecret = 'a secret of the client'

export type ProviderFile = AsyncDisposable & { readonly args: readonly [string, string] }

/** `args`: for the server. */
export async function writeProviderFile(...entries: readonly ProviderEntry[]): Promise<ProviderFile> {
  const dir = await mkdtemp(join(tmpdir(), 'nightjar-providers-'))
  await writeFile(join(dir, 'client.secret'), `${clientSecret}\n`, { mode: 0o600 })
  for (const { id, ca } of entries) await writeFile(join(dir, `${id}.pem`), ca)
  const list = entries.map(({ id, issuer, more }) => ({
    id,
    name: `The ${id}`,
    issuer,
    client_id: 'nightjar',
    client_secret_file: 'client.secret',
    ca_file: `${id}.pem`,
    ...more,
  }))
  const file = join(dir, 'providers.json')
  await writeFile(file, JSON.stringify(list))
  return {
    args: ['--identity-providers', file],
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}
