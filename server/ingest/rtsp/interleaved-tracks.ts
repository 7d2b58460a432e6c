// The tracks of an RTSP connection whose packets are interleaved in it. Channels distinguish them (RFC 2326 10.12).

import { writeInterleaved } from '../../media/rtsp/interleaved.ts'
import { offersTcp, parseInterleavedTransport, writeInterleavedTransport } from '../../media/rtsp/transport.ts'
import { CameraError } from '../network/camera-error.ts'
import type { TrackHandler, TrackTransport } from './track-transport.ts'

/** Packet types of RTCP (RFC 3550 12.1 and later extensions). */
const firstReport = 200
const lastReport = 207

type Route = (bytes: Uint8Array, start: number, end: number) => void

export class InterleavedTracks {
  readonly #routes: (Route | undefined)[] = []
  readonly #handlers: TrackHandler[] = []

  /**
   * Takes a packet of the connection. Packets of an unknown channel are routed by payload type, because some cameras
   * use other channels than they announce.
   */
  take(channel: number, bytes: Uint8Array, start: number, end: number): void {
    const route = this.#routes[channel]
    if (route) route(bytes, start, end)
    else this.#takeByType(bytes, start, end)
  }

  /** See `RtspStreamHandler`. */
  isPacket(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined {
    if (this.#routes[channel] === undefined) return false
    return end - start < 2 ? undefined : this.#isOfTrack(bytes[start + 1]!)
  }

  /** See `RtspStreamHandler`. Before any tracks exist, all packets are expected. */
  isExpected(_channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined {
    if (this.#handlers.length === 0) return true
    if (end - start < 2) return undefined
    // The channel is ignored, because some cameras use other channels than they announce.
    return bytes[start]! >> 6 === 2 && this.#isOfTrack(bytes[start + 1]!)
  }

  #isOfTrack(secondByte: number): boolean {
    const isReport = secondByte >= firstReport && secondByte <= lastReport
    return isReport || this.#handlers.some(({ payloadType }) => payloadType === (secondByte & 0x7f))
  }

  /** `index`: the number of the track in the session. */
  open(index: number, handler: TrackHandler, send: (bytes: Uint8Array) => void): TrackTransport {
    const wanted = { rtpChannel: index * 2, rtcpChannel: index * 2 + 1, ssrc: undefined }
    let { rtcpChannel } = wanted
    return {
      offer: writeInterleavedTransport(wanted),
      accept: (response) => {
        if (response !== undefined && !offersTcp(response)) throw refused()
        // A response without channels accepts the requested ones.
        const agreed = (response && parseInterleavedTransport(response)) || wanted
        rtcpChannel = agreed.rtcpChannel
        this.#handlers.push(handler)
        this.#add(agreed.rtpChannel, (bytes, start, end) => handler.onRtp(bytes, start, end))
        if (agreed.rtcpChannel !== agreed.rtpChannel) {
          this.#routes[agreed.rtcpChannel] ??= (bytes, start, end) => handler.onRtcp(bytes, start, end)
        }
      },
      sendReport: (report) => send(writeInterleaved(rtcpChannel, report)),
      [Symbol.dispose]: () => {},
    }
  }

  /** Cameras that respond with the same channel for two tracks send both over it. */
  #add(channel: number, route: Route): void {
    const isShared = this.#routes[channel] !== undefined
    this.#routes[channel] = isShared ? (bytes, start, end) => this.#takeByType(bytes, start, end) : route
  }

  #takeByType(bytes: Uint8Array, start: number, end: number): void {
    if (end - start < 2) return
    const payloadType = bytes[start + 1]! & 0x7f
    this.#handlers.find((handler) => handler.payloadType === payloadType)?.onRtp(bytes, start, end)
  }
}

function refused(): CameraError {
  const detail = 'The camera refuses to send its stream over TCP: enable RTSP over TCP in the camera.'
  return new CameraError('no_frames', detail, { status: 461 })
}
