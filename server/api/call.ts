// What a handler is given and gives back; the types follow from the contract.

import type { Body, Endpoint, Params, Query, Result } from '../../contract/endpoint.ts'
import type { EndpointName, Endpoints } from '../../contract/endpoints.ts'
import type { Caller } from '../auth/caller.ts'
import type { RateState } from '../auth/guard/rate-limiter.ts'
import type { RequestContext } from '../auth/request-context.ts'

export type Call<E extends Endpoint> = OwnCall<E> & {
  /** Where the request came from, for what records it. */
  context(): RequestContext
  readonly params: Params<E>
  /** Aborts when whoever asked has gone, for what takes long. */
  signal(): AbortSignal
  /**
   * The query and the body, checked against the contract when asked for: a handler asks once it has found what the path names,
   * because 404 comes before 400. Throw 'invalid' naming the fields.
   */
  query(): Query<E>
  body(): Body<E>
  /** As `body`, but only these fields are looked at, for what comes before the rest is checked. */
  bodyPart<N extends keyof Body<E>>(names: readonly N[]): Pick<Body<E>, N>
  /** The query as it was sent, for links that repeat it. */
  readonly queryText: string
}

type OwnCall<E extends Endpoint> = E extends { readonly hasBodyCredential: true }
  ? {
      /** Undefined when there was no `Authorization`. */
      readonly caller: Caller | undefined
      /** A field of the body as it was sent, whatever is wrong with the request besides. */
      findInBody(name: string): unknown
      /** What the answer says about the limit of requests. */
      setRate(rate: RateState | undefined): void
    }
  : { readonly caller: Caller }

export type Handler<E extends Endpoint> = (call: Call<E>) => Promise<Result<E>>

/** One handler per endpoint: the compiler reports a missing or mistyped one. */
export type Handlers = { readonly [Name in EndpointName]: Handler<Endpoints[Name]> }
