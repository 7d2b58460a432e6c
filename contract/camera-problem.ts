// Codes for the reasons why a camera URL yields no video.

export const problemCodes = [
  'address_refused',
  'unknown_host',
  'unreachable',
  'timed_out',
  'tls_failed',
  'not_a_camera',
  'login_needed',
  'login_refused',
  'not_allowed',
  'no_such_stream',
  'busy',
  'redirected',
  'no_video',
  'unsupported',
  'no_frames',
  'suspended',
  'not_told',
  'failed',
] as const

export type ProblemCode = (typeof problemCodes)[number]
