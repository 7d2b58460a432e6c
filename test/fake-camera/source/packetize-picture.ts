// The packets of one coded picture, by its codec.

import type { VideoCodec } from '../../../server/media/frame.ts'
import { packetizeH264 } from '../../support/media/h264/packetizer.ts'
import { packetizeH265 } from '../../support/media/h265/packetizer.ts'
import { packetizeJpeg } from '../../support/media/jpeg/packetizer.ts'

/** The payloads of one picture in order; the last takes the RTP marker. */
export function packetizePicture(codec: VideoCodec, units: readonly Uint8Array[]): Uint8Array[] {
  if (codec === 'mjpeg') return packetizeJpeg(units[0]!)
  return codec === 'h265' ? packetizeH265(units) : packetizeH264(units)
}
