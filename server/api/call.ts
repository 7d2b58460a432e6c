// Input and output of a handler; the types are derived from the contract.

import type { Body, Endpoint, Params, Query, Result } from '../../contract/endpoint.ts'
import type { EndpointName, Endpoints } from '../../contract/endpoints.ts'
import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../auth/request-context.ts'
import type { RateState } from '../base/rate-limiter.ts'
import type { Camera } from '../store/cameras/cameras.ts'
import type { Recording } from '../store/cameras/recordings.ts'
import type { GuestRight } from './camera-access.ts'

export type Call<E extends Endpoint> = CallerOf<E> & CameraOf<E> & RecordingOf<E> & CommonCall<E>

type CommonCall<E extends Endpoint> = {
  /** Throws if the camera cannot be asked now. Called once the caller may see it. */
  refuse(): void
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

type CallerOf<E extends Endpoint> = E extends { readonly hasBodyCredential: true }
  ? {
      /** Undefined without an `Authorization` header. */
      readonly caller: Caller | undefined
      /** A field of the body as sent, even if the request is otherwise invalid. */
      findInBody(name: string): unknown
      /** Sets the rate limit headers of the response. */
      setRate(rate: RateState | undefined): void
    }
  : { readonly caller: Caller }

/** The camera in the path, as `camera` of the endpoint says. */
type CameraOf<E extends Endpoint> = E extends { readonly camera: 'own' }
  ? { readonly camera: Camera }
  : E extends { readonly camera: 'shared' }
    ? { readonly share: GuestRight }
    : unknown

type RecordingOf<E extends Endpoint> = E extends { readonly recording: true }
  ? { readonly recording: Recording }
  : unknown

export type Handler<E extends Endpoint> = (call: Call<E>) => Promise<Result<E>>

/** One handler per endpoint; the compiler reports missing and misspelled ones. */
export type Handlers = { readonly [Name in EndpointName]: Handler<Endpoints[Name]> }
