// For tests: a second, independent model of the rules for sign-ins, refreshes and revocations that does not use
// generations. It runs operations on a machine, either the decision functions alone or the whole server, and reports
// the first response that differs.

import type { OAuthPolicy } from '../../../server/model/oauth/policy.ts'

export type TokenPair = { readonly access: string; readonly refresh: string }

/** The system under test. Time advances only with `advance`. */
export type LoginMachine = {
  logIn(application: number): Promise<TokenPair>
  /** Undefined if refused. */
  refresh(token: string, application: number, idempotencyKey: string | undefined): Promise<TokenPair | undefined>
  isAccepted(accessToken: string): Promise<boolean>
  revoke(token: string, application: number): Promise<void>
  nowMs(): number
  advance(ms: number): void
}

/** Numbers select one of the existing items, modulo their count. */
export type LoginOperation =
  | { readonly kind: 'log_in'; readonly application: number }
  | {
      /** `back` selects a token pair of the sign-in: 0 is the newest, 1 the one before, … */
      readonly kind: 'refresh'
      readonly login: number
      readonly back: number
      readonly isForeign: boolean
      readonly key: number | undefined
    }
  | { readonly kind: 'use_refresh_as_access'; readonly login: number }
  | { readonly kind: 'refresh_with_access'; readonly login: number }
  | {
      readonly kind: 'revoke'
      readonly login: number
      readonly back: number
      readonly isForeign: boolean
      readonly byAccess: boolean
    }
  | { readonly kind: 'advance'; readonly ms: number }

type Login = {
  readonly application: number
  readonly startedMs: number
  readonly pairs: { readonly pair: TokenPair; readonly issuedMs: number; usedMs?: number; key?: string | undefined }[]
  hasEnded: boolean
}

const applications = 2

/** Throws at the first wrong response. Checks every access token ever issued after each operation. */
export async function runLoginModel(
  machine: LoginMachine,
  operations: readonly LoginOperation[],
  policy: OAuthPolicy,
): Promise<void> {
  const logins: Login[] = []
  for (const [step, operation] of operations.entries()) {
    const where = `step ${step}, ${JSON.stringify(operation)}`
    await run(machine, operation, logins, policy, where)
    for (const login of logins) {
      for (const { pair } of login.pairs) {
        const isExpected = isGood(login, pair, machine.nowMs(), policy)
        if ((await machine.isAccepted(pair.access)) !== isExpected) {
          throw new Error(`${where}: an access token should ${isExpected ? '' : 'not '}have been accepted`)
        }
      }
    }
  }
}

function isGood(login: Login, pair: TokenPair, nowMs: number, policy: OAuthPolicy): boolean {
  const newest = login.pairs.at(-1)!
  const endMs = Math.min(newest.issuedMs + policy.accessTokenMs, login.startedMs + policy.grantMs!)
  return !login.hasEnded && newest.pair.access === pair.access && nowMs < endMs
}

async function run(
  machine: LoginMachine,
  operation: LoginOperation,
  logins: Login[],
  policy: OAuthPolicy,
  where: string,
): Promise<void> {
  if (operation.kind === 'advance') return machine.advance(operation.ms)
  if (operation.kind === 'log_in' || logins.length === 0) {
    const application = operation.kind === 'log_in' ? operation.application % applications : 0
    const startedMs = machine.nowMs()
    const pair = await machine.logIn(application)
    logins.push({ application, startedMs, pairs: [{ pair, issuedMs: startedMs }], hasEnded: false })
    return
  }
  const login = logins[operation.login % logins.length]!
  const newest = login.pairs.at(-1)!
  switch (operation.kind) {
    case 'refresh':
      return refresh(machine, operation, login, policy, where)
    case 'use_refresh_as_access':
      if (await machine.isAccepted(newest.pair.refresh)) throw new Error(`${where}: a refresh token is no access token`)
      return
    case 'refresh_with_access': {
      const got = await machine.refresh(newest.pair.access, login.application, undefined)
      if (got) throw new Error(`${where}: an access token is no refresh token`)
      return
    }
    case 'revoke': {
      const index = Math.max(0, login.pairs.length - 1 - operation.back)
      const { pair } = login.pairs[index]!
      const application = operation.isForeign ? login.application + 1 : login.application
      await machine.revoke(operation.byAccess ? pair.access : pair.refresh, application % applications)
      if (!operation.isForeign) login.hasEnded = true
    }
  }
}

async function refresh(
  machine: LoginMachine,
  { back, isForeign, key }: Extract<LoginOperation, { kind: 'refresh' }>,
  login: Login,
  policy: OAuthPolicy,
  where: string,
): Promise<void> {
  const index = Math.max(0, login.pairs.length - 1 - back)
  const sent = login.pairs[index]!
  const idempotencyKey = key === undefined ? undefined : `key ${key}`
  const nowMs = machine.nowMs()
  const application = (isForeign ? login.application + 1 : login.application) % applications
  const got = await machine.refresh(sent.pair.refresh, application, idempotencyKey)
  const expect = (isIssued: boolean) => {
    if ((got !== undefined) !== isIssued)
      throw new Error(`${where}: should have been ${isIssued ? 'answered' : 'refused'}`)
  }
  if (isForeign || login.hasEnded) return expect(false)
  if (sent.usedMs !== undefined) {
    const agoMs = nowMs - sent.usedMs
    const next = login.pairs[index + 1]!
    const isStrict = idempotencyKey === undefined && policy.reuseLeewayMs === 0
    const isRetry = !isStrict && sent.key === idempotencyKey && next.usedMs === undefined
    if (isRetry && agoMs < policy.replyMs) {
      expect(true)
      if (got!.access !== next.pair.access || got!.refresh !== next.pair.refresh) {
        throw new Error(`${where}: the same request was answered by another pair`)
      }
      return
    }
    expect(false)
    if (next.usedMs !== undefined || agoMs >= policy.reuseLeewayMs) login.hasEnded = true
    return
  }
  const endMs = Math.min(sent.issuedMs + policy.refreshTokenMs, login.startedMs + policy.grantMs!)
  expect(nowMs < endMs)
  if (!got) return
  sent.usedMs = nowMs
  sent.key = idempotencyKey
  login.pairs.push({ pair: got, issuedMs: nowMs })
}
