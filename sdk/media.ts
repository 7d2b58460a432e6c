// Addresses in answers.

import type { Camera, SharedCamera, StreamEntry } from './generated/objects.ts'

/** Where a camera's live stream of a format is; not every camera has each. Opens without credentials, in a player or an `<img>`. */
export function findStreamUrl(
  { streams }: Pick<Camera | SharedCamera, 'streams'>,
  format: StreamEntry['format'],
): string | undefined {
  return streams.find((stream) => stream.format === format)?.url
}
