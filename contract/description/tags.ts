// The chapters of the description, in their order.

export const tags = {
  Account: 'The account of the caller.',
  Cameras: 'The caller’s own cameras: live URLs and status.',
  'Shared cameras': 'Cameras that others share with the caller.',
  Recording: 'Recording and playback.',
  Guests: 'People invited by email to watch a camera.',
  Events: 'Events at the cameras.',
  Credentials: 'Tokens, applications, sessions and linked identities of the caller’s account.',
  Users: 'All accounts of the server. Owners of the server only; anyone else gets 403.',
  'Live media':
    'Live video and images. Use the URLs in a camera’s `streams`, `live_snapshot` and `snapshot` as they are.',
  'Recorded media': 'Footage as HLS. The URLs come from a recorded stream.',
  OAuth: 'How third-party applications get tokens (RFC 6749, RFC 7009, RFC 7636, RFC 8414).',
  Server: 'Status and metrics of the server.',
} as const

export type Tag = keyof typeof tags
