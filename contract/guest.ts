// Guests: people invited by email to watch a camera.

import { type Static, Type } from 'typebox'
import { Email, nullable } from './schema.ts'

export const GuestPath = Type.Object({ camera_id: Type.Integer(), guest_id: Type.Integer() })

const flag = (description: string) => Type.Optional(Type.Boolean({ description }))

const PermissionsIn = Type.Object({
  can_view_rec: flag('Whether the guest can view recordings.'),
  share_notifications: flag('Whether the guest is notified of events.'),
})

export const NewGuest = Type.Object({
  email: Type.String({ format: 'idn-email', minLength: 1, maxLength: 254 }),
  permissions: Type.Optional(PermissionsIn),
})

export const GuestChange = Type.Object({ permissions: Type.Optional(PermissionsIn) })

export const Guest = Type.Object({
  id: Type.Integer(),
  email: Email,
  first_name: nullable(Type.String()),
  last_name: nullable(Type.String()),
  permissions: Type.Object({ can_view_rec: Type.Boolean(), share_notifications: Type.Boolean() }),
})

export const GuestLink = Type.Object({
  link: Type.String({
    format: 'uri',
    description: 'Whoever opens it can create an account with the address of the guest. It works once, within 7 days.',
  }),
})

export type Guest = Static<typeof Guest>
