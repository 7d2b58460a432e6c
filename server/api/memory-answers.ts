// Answers what is in memory before the routes are asked: programs ask for the same again and again, and the router, its
// objects and hooks cost more than such an answer. The checks are those of the routes.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { endpoints } from '../../contract/endpoints.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Caller } from '../auth/caller.ts'
import type { RateLimits } from '../auth/guard/rate-limits.ts'
import { RateLimitError } from '../base/rate-limiter.ts'
import { writeEncoded, writeProblemTo } from './answer.ts'
import { type AnswerCache, type KnownAnswer, keyOfAnswer } from './answer-cache.ts'
import { checkScopes } from './authorize.ts'
import { toProblem } from './problem.ts'
import { countUnsentOf } from './send-body.ts'
import type { OriginCheck } from './transport/request-origin.ts'
import type { UsageCounter } from './transport/usage-counter.ts'

export type MemoryAnswersOptions = {
  readonly origin: OriginCheck
  readonly authenticator: Pick<Authenticator, 'findKnown'>
  readonly limits: RateLimits
  readonly caches: readonly AnswerCache[]
  /** Of large answers, by the client's address. */
  readonly unsentBytes: UsageCounter
}

type Found = { readonly caller: Caller; readonly answer: KnownAnswer }

/**
 * A function that answers a request, or says no, by false, and has done nothing then: the routes make the answer, and
 * refuse what is to be refused. Whoever gets an answer here was let in by a route before, with the same credentials,
 * since the store last changed.
 */
export function createMemoryAnswers({ origin, authenticator, limits, caches, unsentBytes }: MemoryAnswersOptions) {
  const find = (
    { method, url, headers: { authorization } }: IncomingMessage,
    connection: object,
  ): Found | undefined => {
    if (method !== 'GET' || authorization === undefined) return undefined
    const caller = authenticator.findKnown(authorization, connection)
    if (!caller) return undefined
    const key = keyOfAnswer(caller.credential, url!)
    for (const cache of caches) {
      const answer = cache.find(key)
      if (answer) return { caller, answer }
    }
    return undefined
  }
  return (request: IncomingMessage, response: ServerResponse, connection: object): boolean => {
    const found = find(request, connection)
    if (!found) return false
    const { caller, answer } = found
    try {
      const clientIp = origin.findClient(request)
      origin.check(request, clientIp)
      const rate = limits.takeCaller(caller) ?? null
      const { access, status } = endpoints[answer.name]
      checkScopes(caller, access)
      countUnsentOf(unsentBytes, clientIp, response, answer.json.length)
      writeEncoded(response, status, answer.json, rate)
    } catch (error) {
      writeProblemTo(response, toProblem(error), error instanceof RateLimitError ? error.rate : null)
    }
    return true
  }
}
