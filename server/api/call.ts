// Input and output of a handler; the types are derived from the contract.

import type { Body, Endpoint, Params, Query, Result } from '../../contract/endpoint.ts'
import type { EndpointName, Endpoints } from '../../contract/endpoints.ts'
import type { Caller } from '../auth/caller.ts'
import type { RateState } from '../auth/guard/rate-limiter.ts'
import type { RequestContext } from '../auth/request-context.ts'

export type Call<E extends Endpoint> = OwnCall<E> & {
  /** Where the request came from, for the audit log. */
  context(): RequestContext
  readonly params: Params<E>
  /** Aborts when the client has disconnected, for long operations. */
  signal(): AbortSignal
  /**
   * The query and the body, validated on first use: a handler calls them after it has found the resource in the path,
   * because 404 comes before 400. Throw 'invalid' naming the fields.
   */
  query(): Query<E>
  body(): Body<E>
  /** Like `body`, but validates only these fields, for what is checked before the rest. */
  bodyPart<N extends keyof Body<E>>(names: readonly N[]): Pick<Body<E>, N>
  /** The query as sent, for links that repeat it. */
  readonly queryText: string
}

type OwnCall<E extends Endpoint> = E extends { readonly hasBodyCredential: true }
  ? {
      /** Undefined without an `Authorization` header. */
      readonly caller: Caller | undefined
      /** A field of the body as sent, even if the request is otherwise invalid. */
      findInBody(name: string): unknown
      /** Sets the rate limit headers of the response. */
      setRate(rate: RateState | undefined): void
    }
  : { readonly caller: Caller }

export type Handler<E extends Endpoint> = (call: Call<E>) => Promise<Result<E>>

/** One handler per endpoint; the compiler reports missing and misspelled ones. */
export type Handlers = { readonly [Name in EndpointName]: Handler<Endpoints[Name]> }
