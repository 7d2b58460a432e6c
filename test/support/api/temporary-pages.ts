// The real pages on a temporary store, for tests, and a browser without scripts that keeps cookies and submits forms.

import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { PagesDeps } from '../../../server/api/pages/deps.ts'
import { type Accounts, createAccounts } from '../../../server/auth/accounts/accounts.ts'
import type { SignUp } from '../../../server/auth/accounts/accounts-options.ts'
import { Audit } from '../../../server/auth/guard/audit.ts'
import { KnownDevices } from '../../../server/auth/guard/known-devices.ts'
import { Login } from '../../../server/auth/guard/login.ts'
import { PasswordQueue } from '../../../server/auth/guard/password-queue.ts'
import { hashPassword } from '../../../server/auth/password.ts'
import { PersonalTokens } from '../../../server/auth/personal-tokens.ts'
import { SecondFactorService } from '../../../server/auth/second-factor/second-factor-service.ts'
import { LongPaths } from '../../../server/auth/sessions/long-paths.ts'
import { Sessions } from '../../../server/auth/sessions/sessions.ts'
import { type Clock, systemClock } from '../../../server/base/clock.ts'
import { silentLogger } from '../../../server/base/log.ts'
import type { Mail } from '../../../server/model/mail.ts'
import type { User } from '../../../server/store/accounts/users.ts'
import type { Store } from '../../../server/store/store.ts'
import { createTemporaryOAuth } from '../auth/temporary-oauth.ts'
import { createNoProviders } from '../auth/temporary-providers.ts'
import { openTemporaryApi, publicUrl, type TemporaryApi } from './temporary-api.ts'

export const password = 'correct horse battery'

export type TemporaryPages = TemporaryApi & {
  readonly deps: PagesDeps
  readonly accounts: Accounts
  readonly audit: Audit
  readonly devices: KnownDevices
  /** The emails that were sent, oldest first. */
  readonly mails: readonly Mail[]
  openBrowser(options?: { readonly ip?: string }): TestBrowser
  addPerson(email?: string): Promise<User>
}

export type TemporaryPagesOptions = {
  readonly clock?: Clock
  readonly signUp?: SignUp
  /** Default: a SQLite file. */
  readonly openStore?: Parameters<typeof openTemporaryApi>[3]
  /** The folder of a built dashboard. */
  readonly dashboard?: string
  /** Default: true. */
  readonly hasMailServer?: boolean
}

export async function openTemporaryPages(t: TestContext, options: TemporaryPagesOptions = {}): Promise<TemporaryPages> {
  const { clock = systemClock, signUp = 'invitation', openStore, dashboard, hasMailServer = true } = options
  const mails: Mail[] = []
  let made: ReturnType<typeof createDeps> | undefined
  const addParts = (store: Store) => {
    made = createDeps(store, { clock, signUp, mails })
    return { pages: { ...made.deps, hasMailServer }, ...(dashboard !== undefined && { dashboard }) }
  }
  const temporary = await openTemporaryApi(t, { clock }, addParts, openStore)
  const passwordHash = await hashPassword(password)
  return {
    ...temporary,
    ...made!,
    mails,
    openBrowser: ({ ip = '192.0.2.7' } = {}) => new TestBrowser(temporary, ip),
    addPerson: (email = 'ada@example.org') =>
      temporary.store.users.insert({ email, firstName: 'Ada', lastName: 'Lind', passwordHash }),
  }
}

function createDeps(store: Store, { clock, signUp, mails }: { clock: Clock; signUp: SignUp; mails: Mail[] }) {
  const log = silentLogger
  const audit = new Audit({ rows: store.audit, clock, log })
  const passwords = new PasswordQueue()
  const devices = new KnownDevices(randomBytes(32), clock)
  const login = new Login({ users: store.users, failures: store.failures, passwords, devices, audit, clock, log })
  const mailer = { send: async (mail: Mail) => void mails.push(mail) }
  const accounts = createAccounts({
    store,
    login,
    passwords,
    mailer,
    audit,
    clock,
    log,
    randomBytes,
    publicUrl,
    signUp,
  })
  const sessions = new Sessions({ rows: store.sessions, clock, log })
  const oauth = createTemporaryOAuth(store, { clock, audit })
  const providers = createNoProviders(store, { audit, clock })
  const secondFactors = new SecondFactorService({
    ...{ store, devices, audit, clock, randomBytes, publicUrl },
    challengeKey: randomBytes(32),
    handleKey: randomBytes(32),
    notify: (notice) => accounts.notices.secondFactor(notice),
  })
  const personalTokens = new PersonalTokens({ rows: store.tokens, audit, randomBytes })
  return {
    deps: {
      sessions,
      personalTokens,
      secondFactors,
      login,
      oauth,
      accounts,
      providers,
      users: store.users,
      usedValues: store.usedValues,
      returnToKey: randomBytes(32),
      pendingKey: randomBytes(32),
      longPaths: new LongPaths({ rows: store.keptValues, key: randomBytes(32), clock }),
      hasMailServer: true,
      audit,
      clock,
      log,
    },
    accounts,
    audit,
    devices,
  }
}

export type Shown = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The URL after all redirects. */
  readonly url: string
  readonly text: string
  readonly location: string | undefined
}

export class TestBrowser {
  readonly #temporary: TemporaryApi
  readonly #ip: string
  readonly cookies = new Map<string, string>()
  /** Headers of every request. Change them to imitate another browser. */
  readonly headers: Record<string, string> = {
    accept: 'text/html,*/*;q=0.8',
    'user-agent': 'Mozilla/5.0 Firefox/140.0',
  }
  shown: Shown | undefined

  constructor(temporary: TemporaryApi, ip: string) {
    this.#temporary = temporary
    this.#ip = ip
  }

  /** Follows redirects within this server. */
  async open(path: string): Promise<Shown> {
    return this.#follow(await this.get(path))
  }

  get(path: string): Promise<Shown> {
    return this.#ask('GET', path)
  }

  /**
   * Submits the form whose action begins with `action` (default: the first) with `fields` in addition to its values,
   * and follows redirects.
   */
  async submit(fields: Record<string, string>, action = ''): Promise<Shown> {
    const form = readForms(this.shown!.text).find((found) => found.action.startsWith(action))
    if (!form) throw new Error(`no form ${action} in:\n${this.shown!.text}`)
    return this.send(form.action, { ...form.fields, ...fields })
  }

  /** Sends a POST request and follows redirects within this server. */
  async send(path: string, fields: Record<string, string>): Promise<Shown> {
    return this.#follow(await this.post(path, fields))
  }

  post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Shown> {
    const origin = { 'sec-fetch-site': 'same-origin', origin: publicUrl }
    return this.#ask('POST', path, String(new URLSearchParams(fields)), {
      'content-type': 'application/x-www-form-urlencoded',
      ...(Object.keys(headers).length > 0 ? headers : origin),
    })
  }

  async signIn(email = 'ada@example.org'): Promise<Shown> {
    await this.open('/sign-in/')
    return this.submit({ email, password })
  }

  async #follow(shown: Shown): Promise<Shown> {
    let now = shown
    for (let hops = 0; now.location?.startsWith('/'); hops++) {
      if (hops > 5) throw new Error(`too many redirects: ${now.location}`)
      now = await this.get(now.location)
    }
    return now
  }

  async #ask(
    method: 'GET' | 'POST',
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Shown> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await this.#temporary.api.server.inject({
      method,
      url: path,
      remoteAddress: this.#ip,
      headers: { ...this.headers, ...headers, ...(cookie !== '' && { cookie }) },
      ...(body !== undefined && { payload: body }),
    })
    for (const line of [response.headers['set-cookie'] ?? []].flat()) {
      const [pair, ...attributes] = line.split('; ')
      const [name, value] = pair!.split(/=(.*)/s) as [string, string]
      if (attributes.includes('Max-Age=0')) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    this.shown = {
      status: response.statusCode,
      headers: response.headers as Shown['headers'],
      url: path,
      text: response.payload,
      location: response.headers.location as string | undefined,
    }
    return this.shown
  }
}

export function readForms(text: string): { action: string; fields: Record<string, string> }[] {
  return [...text.matchAll(/<form method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(([, action, inner]) => ({
    action: unescapeHtml(action!),
    fields: Object.fromEntries(
      [...inner!.matchAll(/<input ([^>]*)>/g)]
        .filter(([, attributes]) => !/type="checkbox"/.test(attributes!) || / checked/.test(attributes!))
        .map(([, attributes]) => [readAttribute(attributes!, 'name'), readAttribute(attributes!, 'value')]),
    ),
  }))
}

function readAttribute(attributes: string, name: string): string {
  return unescapeHtml(new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? '')
}

export function unescapeHtml(text: string): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => characters[name]!)
}
