// Creates, lists and revokes personal access tokens of users, for the API and the page.

import { AppError } from '../base/error.ts'
import { invalidAccount, maxPersonalTokens } from '../model/account-fault.ts'
import { writeTime } from '../model/time.ts'
import type { Token, TokenMaker } from '../store/accounts/tokens.ts'
import type { Store } from '../store/store.ts'
import type { RandomBytes } from './checked-token.ts'
import type { Audit } from './guard/audit.ts'
import { createPersonalToken, describePersonalToken } from './personal-token.ts'
import type { RequestContext } from './request-context.ts'

export type PersonalTokensOptions = {
  readonly rows: Store['tokens']
  readonly audit: Pick<Audit, 'write'>
  readonly randomBytes: RandomBytes
}

export type NewPersonalToken = {
  /** The user and the version of the account's credentials that the request was authenticated with. */
  readonly userId: number
  readonly credentialsVersion: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly context: RequestContext
  /** The token that creates this one, and ends it when it ends; missing if a person creates it. */
  readonly maker?: TokenMaker | undefined
  /** Null for never. */
  readonly expiresAtMs: number | null
}

export class PersonalTokens {
  readonly #options: PersonalTokensOptions

  constructor(options: PersonalTokensOptions) {
    this.#options = options
  }

  /** The valid tokens of a user. */
  async list(userId: number): Promise<Token[]> {
    return (await this.#options.rows.list(userId)).filter((token) => token.revokedAtMs === null)
  }

  /**
   * Returns the `value`, which cannot be read again. Throws 'invalid' if there are too many tokens, and
   * 'unauthenticated' if the account has changed or the creating token has ended.
   */
  async create({
    userId,
    credentialsVersion,
    name,
    scopes,
    context,
    maker,
    expiresAtMs,
  }: NewPersonalToken): Promise<{ token: Token; value: string }> {
    const { rows, audit, randomBytes } = this.#options
    if ((await this.list(userId)).length >= maxPersonalTokens) throw invalidAccount('tokens_too_many')
    const value = createPersonalToken(randomBytes)
    const token = await rows.insert({
      ...{ userId, credentialsVersion, name, scopes, maker, expiresAtMs },
      ...describePersonalToken(value),
    })
    const detail = {
      token: token.id,
      scope: scopes.join(' '),
      ...(expiresAtMs !== null && { expires_at: writeTime(expiresAtMs) }),
      ...(maker && { made_with: `${maker.kind} ${maker.id}` }),
    }
    audit.write({ event: 'pat.created', userId, subject: name, context, detail })
    return { token, value }
  }

  /** Revokes the token permanently. Throws 'not_found' unless it is a valid token of this user. */
  async revoke(userId: number, tokenId: number, context: RequestContext): Promise<void> {
    const { rows, audit } = this.#options
    const token = (await this.list(userId)).find(({ id }) => id === tokenId)
    if (!token) throw new AppError('not_found', 'the user has no such token')
    await rows.revoke(token.id)
    audit.write({ event: 'pat.revoked', userId, subject: token.name, context, detail: { token: token.id } })
  }
}
