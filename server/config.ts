// The configuration: defaults, then a file, then NIGHTJAR_… environment variables, then flags; the last one wins.
// All errors are reported together, and no error is ignored.

import { access, constants, readFile } from 'node:fs/promises'
import { availableParallelism, hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from './base/error.ts'
import { loadIdentityProviders } from './config/identity-providers.ts'
import type { Option, Surroundings } from './config/option.ts'
import { options } from './config/options.ts'
import { isPostgresUrl } from './store/postgres/postgres-url.ts'

type Options = typeof options
export type OptionName = keyof Options
type CamelCase<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<CamelCase<B>>}` : S

/** One value per option, with the option's name in camel case: `publicUrl` for `public-url`. Paths are absolute. */
export type Config = {
  readonly [Name in OptionName as CamelCase<Name>]: Options[Name] extends Option<infer T> ? T : never
}

export const optionNames = Object.keys(options) as readonly OptionName[]

/** The file in the data folder that is read if no other is given. */
export const configFileName = 'nightjar.json'

export type ConfigSources = {
  /** Options from the command line, including `config` (the file). */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Base of relative paths in flags and environment variables. */
  readonly cwd: string
  readonly surroundings?: Omit<Surroundings, 'dataDir'>
}

/** Where a value came from, for error messages. */
type Given = { readonly text: string; readonly origin: string; readonly baseDir: string }

/** Throws 'invalid' with all errors, one per line. */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const surroundings = sources.surroundings ?? findSurroundings()
  const faults: string[] = []
  const given = new Map<OptionName, Given>()
  const direct = collectDirect(sources)
  const read = (name: OptionName, dataDir: string): { value: unknown; fault?: string } => {
    const option = options[name] as Option<unknown>
    const value = direct.get(name) ?? given.get(name)
    try {
      if (value) return { value: option.parse(value.text, value.baseDir) }
    } catch (error) {
      const got = option.isSecret ? '' : `, got ${JSON.stringify(value!.text.slice(0, 100))}`
      const fault = `${value!.origin}: ${(error as Error).message}${got}`
      return { value: option.createDefault({ ...surroundings, dataDir }), fault }
    }
    return { value: option.createDefault({ ...surroundings, dataDir }) }
  }

  const named = direct.get('config')
  const file = named ? resolve(named.baseDir, named.text) : join(read('data', '').value as string, configFileName)
  for (const [name, value] of await readConfigFile(file, named !== undefined, faults)) given.set(name, value)
  if (!named && given.delete('data')) faults.push(`${file}: "data" cannot be moved by a file in the data folder itself`)

  const dataDir = read('data', '').value as string
  const entries = optionNames.map((name) => {
    const { value, fault } = read(name, dataDir)
    if (fault !== undefined) faults.push(fault)
    return [camelCase(name), value] as const
  })
  const config = Object.fromEntries(entries) as Config
  await checkTlsFiles(config, faults)
  await loadIdentityProviders(config.identityProviders, faults)
  const isNamed = config.publicUrl !== undefined || direct.has('public-url') || given.has('public-url')
  if (config.behindProxy && !isNamed) faults.push('behind-proxy needs public-url')
  if (!isPostgresUrl(config.database))
    for (const [name, isGiven] of [
      ['no-cameras', config.noCameras],
      ['peer-address', config.peerAddress !== undefined],
    ])
      if (isGiven) faults.push(`${name} needs a PostgreSQL database: a file of SQLite has one server`)
  if (faults.length > 0) throw new AppError('invalid', `the configuration is wrong:\n${faults.join('\n')}`)
  return config
}

/** The default public URL. */
export function defaultPublicUrl(port: number): string {
  return port === 443 ? 'https://localhost' : `https://localhost:${port}`
}

export function variableName(name: string): string {
  return `NIGHTJAR_${name.toUpperCase().replaceAll('-', '_')}`
}

function findSurroundings(): Omit<Surroundings, 'dataDir'> {
  const programDir = dirname(dirname(fileURLToPath(import.meta.url)))
  return { programDir, hostName: hostname(), cores: availableParallelism() }
}

/** Environment variables and flags. An empty variable counts as not set. */
function collectDirect({ flags, env, cwd }: ConfigSources): Map<string, Given> {
  const direct = new Map<string, Given>()
  for (const name of [...optionNames, 'config']) {
    const text = env[variableName(name)]
    if (text) direct.set(name, { text, origin: variableName(name), baseDir: cwd })
    const flag = flags[name]
    if (flag !== undefined) direct.set(name, { text: String(flag), origin: `--${name}`, baseDir: cwd })
  }
  return direct
}

async function readConfigFile(file: string, isRequired: boolean, faults: string[]): Promise<Map<OptionName, Given>> {
  const given = new Map<OptionName, Given>()
  let content: unknown
  try {
    content = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
    if (isRequired || !isMissing) faults.push(`${file}: ${isMissing ? 'no such file' : describeUnread(error as Error)}`)
    return given
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    faults.push(`${file}: expected a JSON object of options`)
    return given
  }
  for (const [name, value] of Object.entries(content)) {
    const origin = `${file}: "${name}"`
    if (!Object.hasOwn(options, name)) faults.push(`${origin}: there is no such option`)
    else if (!['string', 'number', 'boolean'].includes(typeof value)) faults.push(`${origin}: expected a single value`)
    else given.set(name as OptionName, { text: String(value), origin, baseDir: dirname(file) })
  }
  return given
}

function describeUnread({ code, message }: NodeJS.ErrnoException): string {
  return code === 'EACCES' ? 'this user may not read it; run as the one the folder belongs to' : message
}

async function checkTlsFiles(config: Config, faults: string[]): Promise<void> {
  const { tlsCert, tlsKey } = config
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    faults.push('tls-cert and tls-key are given together or not at all')
  for (const [name, file] of [
    ['tls-cert', tlsCert],
    ['tls-key', tlsKey],
  ]) {
    const isReadable = file === undefined || (await access(file, constants.R_OK).then(() => true, () => false)) // biome-ignore format: one line
    if (!isReadable) faults.push(`${name}: ${file} cannot be read`)
  }
}

function camelCase(name: string): string {
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}
