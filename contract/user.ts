// The account behind a token.

import { type Static, Type } from 'typebox'
import { Email, nullable, ours } from './schema.ts'

export const User = Type.Object({
  id: Type.Integer(),
  email: Email,
  first_name: Type.String(),
  last_name: Type.String(),
  phone: nullable(Type.String()),
  root_site: Type.Integer({ description: 'Equal to `id`.' }),
  my_cameras_count: Type.Integer(),
  shared_cameras_count: Type.Integer(),
  total_cameras_count: Type.Integer(),
  cameras_with_guests_count: Type.Integer(),
  require_qualification: Type.Boolean(),
  available_features: Type.Object({ live_view: Type.Boolean(), connect_camera: Type.Boolean() }),
  is_owner: Type.Boolean({ ...ours, description: 'Extension. Owners manage the server and its users.' }),
  outage_mails: Type.Boolean({
    ...ours,
    description:
      'Extension. Whether the user gets an email when an own camera goes offline or its recording fails, where a mail server is configured.',
  }),
})

export type User = Static<typeof User>
