// What a handler is given and gives back; the types follow from the contract.

import type { Body, Endpoint, Params, Query, Result } from '../../contract/endpoint.ts'
import type { BuiltName, Endpoints } from '../../contract/endpoints.ts'
import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../auth/request-context.ts'

export type Call<E extends Endpoint> = {
  readonly caller: Caller
  /** Where the request came from, for what records it. */
  context(): RequestContext
  readonly params: Params<E>
  /**
   * The query and the body, checked against the contract when asked for: a handler asks once it has found what the path names,
   * because 404 comes before 400. Throw 'invalid' naming the fields.
   */
  query(): Query<E>
  body(): Body<E>
  /** The query as it was sent, for links that repeat it. */
  readonly queryText: string
}

export type Handler<E extends Endpoint> = (call: Call<E>) => Promise<Result<E>>

/** One handler per endpoint that is built: the compiler reports a missing or mistyped one. */
export type Handlers = { readonly [Name in BuiltName]: Handler<Endpoints[Name]> }
