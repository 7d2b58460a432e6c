// For tests: the decision functions with maps instead of tables.

import { decideLogin } from '../../../server/model/oauth/decide-login.ts'
import { decideRefresh } from '../../../server/model/oauth/decide-refresh.ts'
import { decideRevoke } from '../../../server/model/oauth/decide-revoke.ts'
import type { Decision, GrantState, TokenState } from '../../../server/model/oauth/decision.ts'
import { defaultPolicy as policy } from '../../../server/model/oauth/policy.ts'
import type { LoginMachine, TokenPair } from './login-model.ts'

type MemoryToken = Omit<TokenState, 'grant' | 'usedAtMs'> & { readonly grantId: number; usedAtMs: number | undefined }

/** Requests run one at a time, so decisions are never outdated. */
export class MemoryMachine implements LoginMachine {
  #nowMs = Date.UTC(2030, 0, 1)
  #counter = 0
  readonly #grants = new Map<number, GrantState>()
  readonly #tokens = new Map<string, MemoryToken>()
  readonly #replies = new Map<string, { key: string | undefined; pair: TokenPair }>()

  nowMs = () => this.#nowMs

  advance(ms: number): void {
    this.#nowMs += ms
  }

  async logIn(applicationId: number): Promise<TokenPair> {
    const decision = decideLogin({ userId: 1, applicationId, scopes: ['read', 'write'] }, this.#nowMs, policy)
    return this.#apply(decision, '')!
  }

  async refresh(token: string, applicationId: number, key: string | undefined): Promise<TokenPair | undefined> {
    const reply = this.#replies.get(token)
    const hasReply = reply !== undefined && reply.key === key
    const request = { applicationId, scope: undefined, hasReply }
    const decision = decideRefresh(this.#find(token), request, this.#nowMs, policy)
    if (decision.verdict.kind === 'repeated') return reply!.pair
    const pair = this.#apply(decision, token)
    if (pair) this.#replies.set(token, { key, pair })
    return pair
  }

  async isAccepted(accessToken: string): Promise<boolean> {
    const token = this.#find(accessToken)
    if (token?.kind !== 'access') return false
    return !token.grant.isEnded && token.generation === token.grant.generation && this.#nowMs < token.expiresAtMs
  }

  async revoke(token: string, applicationId: number): Promise<void> {
    this.#apply(decideRevoke(this.#find(token), applicationId), token)
  }

  #find(value: string): TokenState | undefined {
    const token = this.#tokens.get(value)
    return token && { ...token, grant: this.#grants.get(token.grantId)! }
  }

  #apply({ effects, verdict }: Decision, presented: string): TokenPair | undefined {
    const pair = { access: `a${++this.#counter}`, refresh: `r${this.#counter}` }
    for (const effect of effects) {
      if (effect.kind === 'revoke_grant') {
        this.#grants.set(effect.grantId, { ...this.#grants.get(effect.grantId)!, isEnded: true })
        continue
      }
      if (effect.kind === 'consume_code') throw new Error('no codes here')
      let id = this.#grants.size + 1
      let generation = 1
      if (effect.kind === 'open_grant') {
        const { pair: _, kind: __, ...rest } = effect
        this.#grants.set(id, { ...rest, id, generation, isEnded: false })
      } else {
        id = effect.grantId
        generation = effect.fromGeneration + 1
        this.#grants.set(id, { ...this.#grants.get(id)!, generation })
        this.#tokens.get(presented)!.usedAtMs = this.#nowMs
      }
      const common = { grantId: id, generation, usedAtMs: undefined }
      this.#tokens.set(pair.access, { ...common, kind: 'access', expiresAtMs: effect.pair.accessExpiresAtMs })
      this.#tokens.set(pair.refresh, { ...common, kind: 'refresh', expiresAtMs: effect.pair.refreshExpiresAtMs })
    }
    return verdict.kind === 'issued' ? pair : undefined
  }
}
