// The chapters of the description, in their order.

export const tags = {
  Account: 'Who is calling.',
  Cameras: 'Cameras of the caller: live addresses and state.',
  'Shared cameras': 'Cameras that others share with the caller.',
  Recording: 'What is recorded of a camera, and how it is played.',
  Guests: 'People who are invited by e-mail to watch a camera.',
  Events: 'What happened at the cameras.',
  Credentials: 'What opens the account of the caller, to be made, seen and ended.',
  Users: 'All accounts of the server. For owners of the server; everybody else is answered 403.',
  'Live media':
    'Pictures of now. The addresses come from a camera’s `streams`, `live_snapshot` and `snapshot`, with all they need.',
  'Recorded media': 'Footage as HLS. The addresses come from a recorded stream.',
  OAuth: 'How programs of others get tokens (RFC 6749, RFC 7009, RFC 7636, RFC 8414).',
  Server: 'The server itself.',
} as const

export type Tag = keyof typeof tags
