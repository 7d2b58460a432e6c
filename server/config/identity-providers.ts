// Reads the file of the option `identity-providers`: a JSON list of providers. All errors are reported together.

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import {
  type AuthMethod,
  authMethods,
  isOnThisMachine,
  issuerKey,
  type ProviderSettings,
} from '../auth/providers/provider-settings.ts'

const fields = {
  id: true,
  name: true,
  issuer: true,
  client_id: true,
  client_secret_file: false,
  link_by_verified_address: false,
  trust_addresses: false,
  token_endpoint_auth_method: false,
  response_mode: false,
  hosts: false,
  ca_file: false,
} as const

/** More would not fit on the sign-in page. */
const maxProviders = 20
const maxFileBytes = 64 * 1024

/** Adds a line to `faults` for each error. The returned value is incomplete if there are any. */
export async function loadIdentityProviders(
  file: string | undefined,
  faults: string[],
): Promise<readonly ProviderSettings[]> {
  if (file === undefined) return []
  const list = await readList(file, faults)
  const providers: ProviderSettings[] = []
  for (const [index, entry] of list.entries()) {
    const reader = new EntryReader(file, index, entry, faults)
    const provider = await reader.read()
    if (!provider) continue
    const twin = providers.find(
      ({ id, issuer }) => id === provider.id || issuerKey(issuer) === issuerKey(provider.issuer),
    )
    if (twin)
      faults.push(`${reader.origin}: ${twin.id === provider.id ? `"id"` : `"issuer"`} is that of another provider`)
    else providers.push(provider)
  }
  return providers
}

async function readList(file: string, faults: string[]): Promise<readonly unknown[]> {
  try {
    const content: unknown = JSON.parse(await readText(file))
    if (!Array.isArray(content)) throw new Error('expected a JSON list of providers')
    if (content.length > maxProviders) throw new Error(`expected at most ${maxProviders} providers`)
    return content
  } catch (error) {
    faults.push(`identity-providers: ${file}: ${(error as Error).message}`)
    return []
  }
}

class EntryReader {
  readonly origin: string
  readonly #dir: string
  readonly #entry: unknown
  readonly #faults: string[]
  #isWhole = true

  constructor(file: string, index: number, entry: unknown, faults: string[]) {
    this.origin = `identity-providers: ${file}: provider ${index + 1}`
    this.#dir = dirname(file)
    this.#entry = entry
    this.#faults = faults
  }

  async read(): Promise<ProviderSettings | undefined> {
    const entry = this.#entry
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
      this.#fault('expected a JSON object')
      return undefined
    }
    const values = entry as Readonly<Record<string, unknown>>
    for (const name of Object.keys(values)) {
      if (Object.hasOwn(fields, name)) continue
      const hint =
        name === 'client_secret' ? '; the secret stands in a file of its own, named by "client_secret_file"' : ''
      this.#fault(`there is no field ${JSON.stringify(name)}${hint}`)
    }
    const provider: ProviderSettings = {
      id: this.#text(values, 'id', '1 to 32 of a-z, 0-9 and -', (text) => /^[a-z\d][a-z\d-]{0,31}$/.test(text)),
      name: this.#text(values, 'name', '1 to 50 characters on one line', isLabel),
      issuer: this.#text(values, 'issuer', 'an https address without query (http on this machine alone)', isIssuer),
      clientId: this.#text(values, 'client_id', '1 to 255 characters', isClientId),
      clientSecret: await this.#file(values, 'client_secret_file', isSecret, 'one line that is not empty'),
      linksByAddress: this.#switch(values, 'link_by_verified_address'),
      assignsAddresses: this.#switch(values, 'trust_addresses'),
      authMethod: this.#authMethod(values),
      answersByForm: this.#responseMode(values) === 'form_post',
      hosts: this.#hosts(values.hosts),
      ca: await this.#file(values, 'ca_file', isPem, 'certificates as PEM'),
    }
    return this.#isWhole ? provider : undefined
  }

  #text(
    values: Readonly<Record<string, unknown>>,
    name: keyof typeof fields,
    form: string,
    isGood: (text: string) => boolean,
  ): string {
    const value = values[name]
    if (typeof value === 'string' && isGood(value)) return value
    this.#fault(value === undefined ? `"${name}" is missing` : `"${name}": expected ${form}, got ${quote(value)}`)
    return ''
  }

  #authMethod(values: Readonly<Record<string, unknown>>): AuthMethod | undefined {
    const value = values.token_endpoint_auth_method
    const method = authMethods.find((each) => each === value)
    const secret = values.client_secret_file
    if (value !== undefined && method === undefined)
      this.#fault(`"token_endpoint_auth_method": expected ${authMethods.join(', ')}, got ${quote(value)}`)
    else if (method !== undefined && method !== 'none' && secret === undefined)
      this.#fault(`"token_endpoint_auth_method": ${method} needs "client_secret_file"`)
    return method
  }

  #responseMode({ response_mode: value = 'query' }: Readonly<Record<string, unknown>>): unknown {
    if (value !== 'query' && value !== 'form_post')
      this.#fault(`"response_mode": expected query or form_post, got ${quote(value)}`)
    return value
  }

  #switch(values: Readonly<Record<string, unknown>>, name: keyof typeof fields): boolean {
    const value = values[name] ?? false
    if (typeof value !== 'boolean') this.#fault(`"${name}": expected true or false, got ${quote(value)}`)
    return value === true
  }

  #hosts(value: unknown = []): readonly string[] {
    const isGood =
      Array.isArray(value) && value.length <= 20 && value.every((each) => typeof each === 'string' && isHost(each))
    if (isGood) return value as string[]
    this.#fault(`"hosts": expected a list of hosts, each with its port unless it is 443, got ${quote(value)}`)
    return []
  }

  /** The secret in the file, without its final line break. It is never repeated in messages. */
  async #file(
    values: Readonly<Record<string, unknown>>,
    name: keyof typeof fields,
    isGood: (text: string) => boolean,
    form: string,
  ): Promise<string | undefined> {
    const value = values[name]
    if (value === undefined) return undefined
    if (typeof value !== 'string' || value === '' || value.includes('\0')) {
      this.#fault(`"${name}": expected a path`)
      return undefined
    }
    const path = resolve(this.#dir, value)
    try {
      const text = (await readText(path)).replace(/\r?\n$/, '')
      if (isGood(text)) return text
      this.#fault(`"${name}": ${path}: expected ${form}`)
    } catch (error) {
      this.#fault(`"${name}": ${path}: ${(error as Error).message}`)
    }
    return undefined
  }

  #fault(text: string): void {
    this.#isWhole = false
    this.#faults.push(`${this.origin}: ${text}`)
  }
}

async function readText(file: string): Promise<string> {
  try {
    const bytes = await readFile(file)
    if (bytes.length > maxFileBytes) throw new Error(`expected at most ${maxFileBytes} bytes`)
    return bytes.toString('utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Error('no such file', { cause: error })
    throw new Error(code === 'EACCES' ? 'this user may not read it' : message, { cause: error })
  }
}

const isLabel = (text: string): boolean => /^[^\p{Cc}\u2028\u2029]{1,50}$/u.test(text) && text.trim() === text
const isClientId = (text: string): boolean => /^[\x20-\x7e]{1,255}$/.test(text)
const isSecret = (text: string): boolean => /^[\x20-\x7e]{1,1024}$/.test(text)
const isPem = (text: string): boolean => /-----BEGIN CERTIFICATE-----/.test(text)
const isHost = (text: string): boolean => URL.parse(`https://${text}/`)?.host === text.toLowerCase()

function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username + url.password !== '' || /[?#\s\\]/.test(text)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isOnThisMachine(url))
}

function quote(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100)
}
