// Paginated lists: the query that asks for a page and the envelope around it.

import { type TSchema, Type } from 'typebox'
import { nullable } from './schema.ts'

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Items per page; 100 when missing, more than 1000 is treated as 1000.' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Items to skip; 0 when missing.' }),
  ),
}

export const PageQuery = Type.Object(pageQuery)

export const page = <S extends TSchema>(item: S) =>
  Type.Object({
    count: Type.Integer({ description: 'Items in the whole set.' }),
    next: nullable(Type.String({ description: 'Link to the next page; null at the end of the set.' })),
    previous: nullable(Type.String({ description: 'Link to the previous page; null at the start.' })),
    results: Type.Array(item),
  })
