// Paginated lists: the query that asks for a page and the envelope around it.

import { type TSchema, Type } from 'typebox'
import { nullable } from './schema.ts'

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Items per page. Default: 100; values above 1000 are treated as 1000.' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Number of items to skip. Default: 0.' }),
  ),
}

export const PageQuery = Type.Object(pageQuery)

export const page = <S extends TSchema>(item: S) =>
  Type.Object({
    count: Type.Integer({ description: 'Total number of items.' }),
    next: nullable(Type.String({ description: 'URL of the next page; null on the last page.' })),
    previous: nullable(Type.String({ description: 'URL of the previous page; null on the first page.' })),
    results: Type.Array(item),
  })
