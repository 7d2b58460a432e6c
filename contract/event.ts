// Events: something happened at a camera.

import { Type } from 'typebox'
import { pageQuery } from './page.ts'
import { nullable, ours, TimeIn, Timestamp } from './schema.ts'

export const Event = Type.Object({
  id: Type.Integer(),
  camera: Type.Integer(),
  site: Type.Null(),
  title: nullable(Type.String()),
  category: Type.String(),
  source: Type.Enum(['api', 'device', 'camera', 'system'], {
    description:
      'Where the event comes from: a program with a token, a device with the camera’s hash, the camera itself, or this server.',
  }),
  occurred_at: Timestamp,
  received_at: Timestamp,
  data: Type.Unknown({ description: 'JSON data that was sent with the event; null if there was none.' }),
})

/** Either `camera` with an authenticated caller, or `hash`, which is the credential itself. */
export const NewEvent = Type.Object({
  camera: Type.Optional(Type.Integer({ description: '`id` of one of the caller’s cameras.' })),
  hash: Type.Optional(Type.String({ description: 'The `event_api_hash` of a camera.' })),
  title: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
  category: Type.Optional(Type.String({ pattern: '^[a-z0-9_]{1,64}$', description: 'Default: `generic`.' })),
  occurred_at: Type.Optional(TimeIn('Default: now. At most one day in the future.')),
  data: Type.Optional(
    Type.Unknown({ description: 'Any JSON value of up to 4 KiB and 16 levels. Only allowed with a token.' }),
  ),
})

export const EventQuery = Type.Object({
  start: Type.Optional(TimeIn('Inclusive, on `occurred_at`.')),
  end: Type.Optional(TimeIn('Exclusive, on `occurred_at`.')),
  category: Type.Optional(
    Type.String({
      ...ours,
      pattern: '^[a-z0-9_]{1,64}$',
      description: 'Extension. Return only events of this category.',
    }),
  ),
  ...pageQuery,
})
