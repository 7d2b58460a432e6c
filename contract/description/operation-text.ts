// What the description of the interface says of an operation beyond the contract: its place, texts for people, and examples, whose
// types are those of the contract.

import type { TSchema } from 'typebox'
import type { Body, Endpoint, Result } from '../endpoint.ts'
import type { Tag } from './tags.ts'

type CommonText = {
  readonly tag: Tag
  /** What the summary leaves open; Markdown. */
  readonly description: string
  /** Refusals that do not follow from the contract, or say more than the usual text. */
  readonly refusals?: { readonly [status in 400 | 403 | 404 | 409 | 429 | 503]?: string }
}

export type OperationText<E extends Endpoint> = CommonText &
  (E extends { readonly body: TSchema }
    ? {
        /** By what each shows; the first is the one of the example call. */
        readonly bodies: { readonly [summary: string]: Body<E> }
      }
    : { readonly bodies?: never }) &
  (E extends { readonly status: 204 } ? { readonly answer?: never } : { readonly answer: Result<E> })

/** Of whatever endpoint. */
export type AnyOperationText = CommonText & {
  readonly bodies?: { readonly [summary: string]: unknown }
  readonly answer?: unknown
}
