// What the RTSP server needs of a stream: one encoded as it is sent (live-source.ts) or a looped clip
// (loop-source.ts).

import type { SdpMedia } from '../../../server/media/sdp/sdp.ts'
import type { Outlet, OutletStats, Player } from './outlet.ts'

export type MediaSource = {
  readonly name: string
  readonly outlet: Outlet
  /** The tracks as the session description shows them, in the order of `outlet.tracks`. */
  describe(): SdpMedia[]
  attach(player: Player): void
  detach(player: Player): void
  /** Steps the camera's wall clock and its RTP timestamps by `ms`, either way. */
  jumpClock(ms: number): void
  /** Sends nothing on the audio track, which is still described; or resumes the audio. */
  muteAudio(isMuted: boolean): void
  /** So many times fewer pictures, with timestamps as if all came; 1 is as it should be. Live streams without audio only. */
  slowDown(factor: number): void
  /** From the next picture on the stream has its other size: new parameter sets in the stream and in the description. */
  changeResolution(): Promise<void>
  /** From the next picture on the stream is of the other codec, H.264 or H.265, and so is the description. Loops only. */
  changeCodec(): Promise<void>
  stats(): OutletStats
  close(): Promise<void>
}

/** Payload types as cameras number them (dynamic, RFC 3551 table 5). */
export const videoPayloadType = 96
export const audioPayloadType = 97
