// Authorizes requests: who calls, how often, and with which scopes. Runs before anything of a request is read.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '../../contract/endpoint.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Caller } from '../auth/caller.ts'
import type { RateLimits } from '../auth/guard/rate-limits.ts'
import { insufficientScope } from './problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The caller; set before anything of the request is read. Only under /v1; null if the body identifies the caller.
     */
    caller: Caller | null
  }
}

export type AuthorizerOptions = {
  readonly authenticator: Pick<Authenticator, 'authenticate'>
  readonly limits: RateLimits
}

type Done = (error?: Error) => void

/**
 * A hook that admits callers whose credentials cover `access`, and requests without credentials if the body may contain
 * them: the handler then counts and checks those. It is synchronous if the authenticator is. Valid credentials are
 * counted by account, everything else by address: failed guesses do not count against known callers at the same
 * address.
 */
export function createAuthorizer(
  { authenticator, limits }: AuthorizerOptions,
  { access, hasBodyCredential }: Pick<Endpoint, 'access' | 'hasBodyCredential'>,
) {
  const admit = (request: FastifyRequest, caller: Caller): void => {
    request.rate = limits.takeCaller(caller) ?? null
    checkScopes(caller, access)
    request.caller = caller
  }
  const refuse = (request: FastifyRequest, error: unknown): Error => {
    try {
      request.rate = limits.takeAddress(request.clientIp) ?? null
      return error as Error
    } catch (tooMany) {
      return tooMany as Error
    }
  }
  const wait = async (request: FastifyRequest, pending: Promise<Caller>): Promise<void> => {
    const { clientIp } = request
    // Counted immediately, so that concurrent guesses count too.
    const rate = limits.takeAddress(clientIp)
    let caller: Caller
    try {
      caller = await pending
    } catch (error) {
      request.rate = rate ?? null
      throw error
    }
    limits.giveBackAddress(clientIp)
    admit(request, caller)
  }
  return (request: FastifyRequest, _reply: FastifyReply | undefined, done: Done): void => {
    const { authorization } = request.headers
    if (hasBodyCredential && authorization === undefined) {
      done()
      return
    }
    let caller: Caller | Promise<Caller>
    try {
      caller = authenticator.authenticate(authorization)
    } catch (error) {
      done(refuse(request, error))
      return
    }
    if (caller instanceof Promise) {
      caller.catch(() => {}) // nobody may be waiting for it by then
      wait(request, caller).then(() => done(), done)
      return
    }
    try {
      admit(request, caller)
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  }
}

/** Throws HttpError 403. */
export function checkScopes({ scopes }: Caller, { all, or }: Endpoint['access']): void {
  const isCovered = all.every((scope) => scopes.has(scope)) || (or !== undefined && scopes.has(or))
  if (!isCovered) throw insufficientScope(all)
}

/** The same for requests that match no endpoint: credentials are required, scopes are not. */
export function createCallerCheck(options: AuthorizerOptions): (request: FastifyRequest) => Promise<void> {
  const authorize = createAuthorizer(options, { access: { all: [] } })
  return (request) =>
    new Promise((resolve, reject) => authorize(request, undefined, (error) => (error ? reject(error) : resolve())))
}
