// What one operation of the interface is, as data. The server's routes, the handlers' types, the SDK, the OpenAPI description
// and the test that a stranger gets 401 everywhere are derived from it.

import type { Static, TSchema } from 'typebox'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Which tokens may call: those with every scope in `all`, or with the one fine-grained scope in `or`. None: any valid token. */
export type Access = {
  readonly all: readonly ('read' | 'write' | 'account_manage')[]
  readonly or?: string
}

export type Endpoint = {
  readonly method: Method
  /** With a trailing slash and `{name}` for parameters; both forms with and without the slash are served. */
  readonly path: string
  /** One line, for people. */
  readonly summary: string
  readonly access: Access
  /** True where a request without `Authorization` may have a credential in its body instead, which the handler checks. */
  readonly hasBodyCredential?: true
  /** Properties are integers or strings; a value that does not match is 404. */
  readonly params?: TSchema
  /** Whose camera `camera_id` names: the caller's own, or one that is shared with the caller. Any other is 404. */
  readonly camera?: 'own' | 'shared'
  /** With `camera`: 404 unless recording is turned on and the caller may see recordings. */
  readonly recording?: true
  readonly query?: TSchema
  readonly body?: TSchema
  /** Status and body of success; errors have one shape everywhere, see `Problem`. */
  readonly status: 200 | 201 | 204
  readonly result: TSchema
  /** True where we add to the interface document. */
  readonly isExtension?: true
}

/** Names an endpoint without widening its schema types. */
export const endpoint = <const E extends Endpoint>(e: E): E => e

type Of<S> = S extends TSchema ? Static<S> : undefined

export type Params<E extends Endpoint> = Of<E['params']>
export type Query<E extends Endpoint> = Of<E['query']>
export type Body<E extends Endpoint> = Of<E['body']>
export type Result<E extends Endpoint> = Of<E['result']>
