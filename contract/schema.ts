// Building blocks of the objects on the wire. Names inside objects are snake_case because clients see them.

import { type TSchema, Type } from 'typebox'

/** Marks what we add to the objects of the interface; their descriptions begin with "Extension." */
export const ours = { 'x-nightjar-extension': true } as const

/** A value that may be null; its key is present all the same. */
export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** An instant in an answer: exactly `YYYY-MM-DDThh:mm:ssZ`. */
export const Timestamp = Type.String({ format: 'date-time', pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$` })

/** An instant in a request: ISO 8601 with `Z`, an offset or no zone (UTC), seconds and their fractions optional. */
export const TimeIn = (description: string) => Type.String({ format: 'date-time', description })

/** An address of mail, with letters of any script (RFC 6531). */
export const Email = Type.String({ format: 'idn-email' })

/** An object without keys, or an empty answer. */
export const Nothing = Type.Null()

/** Reasons per field of a request, nested as the request is. */
export type FieldErrors = { readonly [field: string]: readonly string[] | FieldErrors }

/** A schema that refers to itself. It is used only in the API description, which the server writes and never reads. */
export const FieldErrors = Type.Unsafe<FieldErrors>({
  type: 'object',
  description: 'Reasons by field, `{field: ["reason", …]}`, nested like the request.',
  additionalProperties: {
    anyOf: [{ type: 'array', items: { type: 'string' } }, { $ref: '#/components/schemas/FieldErrors' }],
  },
})

/** Every answer under /v1 that is not a success. */
export const Problem = Type.Object({
  status: Type.Integer({ description: 'The HTTP status.' }),
  title: Type.String({ description: 'Short identifier for programs.' }),
  detail: Type.String({ description: 'Explanation for people.' }),
  errors: Type.Optional(FieldErrors),
})
