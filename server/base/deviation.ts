/**
 * What a camera does that standards forbid or leave open, and that is understood nevertheless. Owners are told, because
 * other programs may not understand it.
 */
export const deviations = [
  /** The directions in its description are those of the client (ONVIF Streaming 5.3). */
  'client_directions',
  /** Its packets change their source (SSRC) within a connection. */
  'source_changes',
  /** Its sequence numbers step back. */
  'sequence_steps',
  /** Its timestamps stand still, or pass in another unit. */
  'unusable_timestamps',
  /** Several NAL units are joined by start codes in place of one. */
  'joined_units',
  /** NAL units are split into parts of which some are empty. */
  'empty_fragments',
  /** NAL units of types that standards leave open, or of other layers. */
  'private_units',
  /** The headers of transport streams (ADTS) inside audio packets. */
  'transport_headers',
  /** Lines in HTTP heads that are no header fields. */
  'head_lines',
] as const

export type Deviation = (typeof deviations)[number]
