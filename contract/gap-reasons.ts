// Why footage is missing: one vocabulary for the recorder, the timeline, the API, the SDK and the dashboard. Programs must
// accept reasons that they do not know, because later versions add some.

export const gapReasons = {
  camera_unreachable: 'No connection to the camera could be made, or it was lost.',
  auth_failed: 'The camera refused the username or password.',
  no_frames: 'The camera was connected but sent no video.',
  packet_loss: 'Packets from the camera were lost, and no complete frame arrived for more than a second.',
  stream_changed: 'The camera changed its stream, or the stream had to be started again.',
  clock_set: "The server's or the camera's clock was set to another time.",
  camera_suspended: 'The server stopped reading this camera for a while because its stream harmed the server.',
  stopped_by_user: 'Recording was turned off.',
  disk_full: 'The disk was full.',
  disk_failed: 'The disk could not be written to.',
  overload: 'The server could not keep up.',
  server_down: 'The server was not running.',
  node_lost: 'The server that recorded the camera was lost, or gave the camera to another one.',
  damaged: 'The footage was recorded, but the file was damaged afterwards.',
  unknown: 'The reason was not recorded.',
} as const

export type GapReason = keyof typeof gapReasons
