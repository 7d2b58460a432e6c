// A clip encoded and packetized once, to be sent again and again with other numbers in its headers.

import { setImmediate } from 'node:timers/promises'
import { Lens } from '../encode/lens.ts'
import type { EncodedPicture } from '../encode/video-encoder.ts'
import { findFrameCounter } from '../frame-counter.ts'
import type { Picture } from '../scene/picture.ts'
import { createRandom } from '../scene/random.ts'
import { packetizePicture } from './packetize-picture.ts'
import { RtpTrack } from './rtp-track.ts'
import type { ResolvedStream } from './stream-options.ts'

export type ClipFrame = {
  readonly isKey: boolean
  /** Framed RTP packets, one after the other. */
  readonly bytes: Uint8Array
  /** Where each packet begins. */
  readonly starts: readonly number[]
  /** Where the numbers of the frame counter lie; -1 for JPEG, which has no place for them. */
  readonly counterAt: number
  /** So many places later than it is sent it is shown; below 0 for earlier. */
  readonly delay: number
}

export type LoopClip = {
  readonly width: number
  readonly parameterSets: readonly Uint8Array[]
  /** The first is a key frame. */
  readonly frames: readonly ClipFrame[]
}

/** Encodes `seconds` of the stream's scene at a constant bit rate. */
export async function encodeLoopClip(options: ResolvedStream, seconds: number, startMs: number): Promise<LoopClip> {
  using lens = await Lens.open({ ...options, rate: 'constant', retouch: createGrain() })
  const track = new RtpTrack({ clockRate: 90_000, payloadType: 96, channel: 0 })
  const pictures: EncodedPicture[] = []
  for (let frameNumber = 0; frameNumber < seconds * options.framesPerSecond; frameNumber++) {
    const unixMs = startMs + (frameNumber * 1000) / options.framesPerSecond
    // Seconds of work for a long clip: in between, whatever is being sent goes on.
    await setImmediate()
    const picture = lens.capture({ unixMs, frameNumber }, frameNumber === 0)
    if (picture) pictures.push(picture)
  }
  pictures.push(...lens.finish())
  const firstIndex = pictures[0]!.index
  const frames = pictures.map(({ isKey, units, index }, place): ClipFrame => {
    const bytes = track.writePackets(packetizePicture(options.codec, units), 0)
    const delay = index - firstIndex - place
    return { isKey, bytes, starts: listPacketStarts(bytes), counterAt: findFrameCounter(bytes), delay }
  })
  return { width: options.width, parameterSets: lens.parameterSets, frames }
}

function listPacketStarts(bytes: Uint8Array): number[] {
  const starts: number[] = []
  for (let at = 0; at < bytes.length; at += 4 + ((bytes[at + 2]! << 8) | bytes[at + 3]!)) starts.push(at)
  return starts
}

/** The noise of a real sensor: without it a drawn scene is too simple to fill a constant bit rate. */
function createGrain(): (picture: Picture) => void {
  const random = createRandom(5)
  const grain = Int8Array.from({ length: 65_536 + 4096 }, () => Math.round(random() * 8 - 4))
  return ({ y: luma }) => {
    for (let start = 0; start < luma.length; start += 4096) {
      const shift = Math.floor(random() * 65_536)
      const end = Math.min(luma.length, start + 4096)
      for (let i = start; i < end; i++) luma[i] = Math.max(16, Math.min(235, luma[i]! + grain[shift + i - start]!))
    }
  }
}
