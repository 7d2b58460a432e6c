// Sends cached responses before the router runs. Programs repeat the same requests, and for these the router and its
// hooks cost more than the response. The checks are the same as in the routes.

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
  /** Bytes of large responses that are being sent, by the client's IP address. */
  readonly unsentBytes: UsageCounter
}

type Found = { readonly caller: Caller; readonly answer: KnownAnswer }

/**
 * Returns a function that answers a request and returns true, or returns false without side effects. In that case, the
 * routes handle the request, including all errors. A cached response is sent only to a caller whom a route has
 * authorized with the same credentials since the store last changed.
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
