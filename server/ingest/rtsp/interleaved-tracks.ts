// The tracks of one RTSP connection whose packets come inside it, told apart by their channels (RFC 2326 10.12).

import { writeInterleaved } from '../../media/rtsp/interleaved.ts'
import { offersTcp, parseInterleavedTransport, writeInterleavedTransport } from '../../media/rtsp/transport.ts'
import { CameraError } from '../network/camera-error.ts'
import type { TrackHandler, TrackTransport } from './track-transport.ts'

/** Packet types of RTCP (RFC 3550 12.1, and those that others have added behind). */
const firstReport = 200
const lastReport = 207

type Route = (bytes: Uint8Array, start: number, end: number) => void

export class InterleavedTracks {
  readonly #routes: (Route | undefined)[] = []
  readonly #handlers: TrackHandler[] = []

  /**
   * A packet of the connection. Those of a channel nobody was told of go by their payload type: some cameras use others
   * than they say.
   */
  take(channel: number, bytes: Uint8Array, start: number, end: number): void {
    const route = this.#routes[channel]
    if (route) route(bytes, start, end)
    else this.#takeByType(bytes, start, end)
  }

  /** As `RtspStreamHandler` says. */
  isPacket(channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined {
    if (this.#routes[channel] === undefined) return false
    return end - start < 2 ? undefined : this.#isOfTrack(bytes[start + 1]!)
  }

  /** As `RtspStreamHandler` says. Before there are tracks, all are. */
  isExpected(_channel: number, bytes: Uint8Array, start: number, end: number): boolean | undefined {
    if (this.#handlers.length === 0) return true
    if (end - start < 2) return undefined
    // Whatever its channel: some cameras use others than they say.
    return bytes[start]! >> 6 === 2 && this.#isOfTrack(bytes[start + 1]!)
  }

  #isOfTrack(secondByte: number): boolean {
    const isReport = secondByte >= firstReport && secondByte <= lastReport
    return isReport || this.#handlers.some(({ payloadType }) => payloadType === (secondByte & 0x7f))
  }

  /** `index` counts the tracks of the session. */
  open(index: number, handler: TrackHandler, send: (bytes: Uint8Array) => void): TrackTransport {
    const wanted = { rtpChannel: index * 2, rtcpChannel: index * 2 + 1, ssrc: undefined }
    let { rtcpChannel } = wanted
    return {
      offer: writeInterleavedTransport(wanted),
      accept: (answer) => {
        if (answer !== undefined && !offersTcp(answer)) throw refused()
        // Without channels in the answer, those we asked for are meant.
        const agreed = (answer && parseInterleavedTransport(answer)) || wanted
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

  /** Cameras that answer with the same channel for two tracks send both over it. */
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
  const detail = 'The camera will not send its stream over the TCP connection: allow RTSP over TCP in the camera.'
  return new CameraError('no_frames', detail, { status: 461 })
}
