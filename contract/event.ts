// Events: something happened at a camera.

import { Type } from 'typebox'
import { pageQuery } from './page.ts'
import { nullable, TimeIn, Timestamp } from './schema.ts'

export const Event = Type.Object({
  id: Type.Integer(),
  camera: Type.Integer(),
  site: Type.Null(),
  title: nullable(Type.String()),
  category: Type.String(),
  source: Type.String(),
  occurred_at: Timestamp,
  received_at: Timestamp,
  data: nullable(Type.Unknown()),
})

/** Either `camera` with an authenticated caller, or `hash`, which is the credential itself. */
export const NewEvent = Type.Object({
  camera: Type.Optional(Type.Integer()),
  hash: Type.Optional(Type.String()),
  title: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
  category: Type.Optional(Type.String({ pattern: '^[a-z0-9_]{1,64}$', description: '`generic` when missing.' })),
  occurred_at: Type.Optional(TimeIn('Now when missing.')),
  data: Type.Optional(Type.Unknown({ description: 'At most 4 KiB of JSON.' })),
})

export const EventQuery = Type.Object({
  start: Type.Optional(TimeIn('Inclusive, on `occurred_at`.')),
  end: Type.Optional(TimeIn('Exclusive, on `occurred_at`.')),
  ...pageQuery,
})
