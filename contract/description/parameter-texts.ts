// Examples of all parameters, and what those of paths mean. An endpoint with a new parameter does not pass the type check without.

import type { Params, Query } from '../endpoint.ts'
import type { EndpointName, Endpoints } from '../endpoints.ts'

type NamesOf<T> = T extends undefined ? never : Extract<keyof T, string>

export type PathName = { [Name in EndpointName]: NamesOf<Params<Endpoints[Name]>> }[EndpointName]
export type QueryName = { [Name in EndpointName]: NamesOf<Query<Endpoints[Name]>> }[EndpointName]

type Example = string | number | boolean

export const pathTexts: { readonly [Name in PathName]: { readonly description: string; readonly example: Example } } = {
  camera_id: { description: '`id` of the camera.', example: 12 },
  guest_id: { description: '`id` of the guest.', example: 5 },
  streamer_name: { description: 'Name of the server that holds the stream, as in `stream_info`.', example: 'nightjar' },
  streamer_id: { description: 'Id of the stream, as in `stream_info`.', example: '9d2f6a0c4b8e4f0f9a1b2c3d4e5f6071' },
  token_id: { description: '`id` of the token.', example: 3 },
  application_id: { description: '`id` of the application.', example: 2 },
  authorization_id: { description: '`id` of the authorization.', example: 8 },
  identity_id: { description: '`id` of the link.', example: 3 },
  session_id: { description: '`id` of the session.', example: 'q3Zk1mWvT9yLx0aB' },
  user_id: { description: '`id` of the user.', example: 7 },
}

export const queryExamples: { readonly [Name in QueryName]: Example } = {
  limit: 100,
  offset: 0,
  refresh_rate: 0.5,
  max_width: 640,
  max_height: 480,
  start: '2026-05-01T00:00:00Z',
  end: '2026-05-01T02:00:00Z',
  filename: 'front-door.mp4',
  gaps: 'keep',
  duration: 60,
  remove_cameras: true,
  category: 'doorbell',
}
