// One track whose packets arrive in datagrams. It opens a pair of sockets, reorders packets, and accepts only packets
// from the camera's IP address (RFC 2326 12.39, RFC 3550 11).

import { createSocket, type Socket } from 'node:dgram'
import { SocketAddress } from 'node:net'
import type { Clock } from '../../base/clock.ts'
import { writeEmptyReport } from '../../media/rtp/receiver-report.ts'
import { RtpReorderer } from '../../media/rtp/reorderer.ts'
import { writeRtpPacket } from '../../media/rtp/rtp-header.ts'
import { parseUdpTransport, writeUdpTransport } from '../../media/rtsp/transport.ts'
import type { CameraStats } from '../frames/camera-stats.ts'
import { isServicePort, type TestedAddress } from '../network/address-guard.ts'
import { CameraError } from '../network/camera-error.ts'
import type { SharedReads } from '../network/shared-reads.ts'
import type { SessionTap } from '../recorded/session-tap.ts'
import type { TrackHandler, TrackTransport } from './track-transport.ts'

export type UdpTrackOptions = {
  readonly camera: TestedAddress
  /** The local IP address of the RTSP connection. The sockets listen on the same interface. */
  readonly localAddress: string
  readonly handler: TrackHandler
  readonly ownSsrc: number
  readonly stats: CameraStats
  readonly clock: Clock
  readonly reads: SharedReads
  readonly tap?: SessionTap | undefined
  /** The track's number, as in `TappedEvent`. */
  readonly track: number
  /**
   * Called with an error that was thrown while a datagram was handled. It is a bug, which must only end the session of
   * this camera.
   */
  readonly onFailure: (error: unknown) => void
}

/** A large frame arrives in a burst and must fit until the thread reads it. The system may grant less. */
const receiveBufferBytes = 2 * 1024 * 1024

/** The number of attempts to find a pair of ports: RTP on an even port, RTCP on the next one. */
const maxTries = 20

/** A camera must not make this server send packets to services. */
const isFreePort = (port: number) => port >= 1024 && !isServicePort(port)

/** Opens the sockets; `offer` announces them to the camera. @throws CameraError if there is no free pair of ports */
export async function openUdpTrack(options: UdpTrackOptions): Promise<TrackTransport> {
  const { camera, localAddress, handler, ownSsrc, stats, clock, reads, onFailure, tap, track } = options
  const { rtp, rtcp, port } = await openPair(camera.family, localAddress)
  // Packets that exceed the receive buffer while the thread does not read are lost.
  const release = reads.hold()
  const reorderer = new RtpReorderer({ onPacket: (packet) => handler.onRtp(packet, 0, packet.length) })
  const cameraAddress = canonical(camera)
  const isFromCamera = (address: string) => {
    const isOwn = address === cameraAddress
    if (!isOwn) stats.foreignPackets++
    return isOwn
  }
  let late = 0
  rtp.on('message', (packet, { address }) => {
    if (!isFromCamera(address)) return
    stats.receivedBytes += packet.length
    tap?.({ kind: 'rtp', track, bytes: packet })
    try {
      reorderer.push(packet, clock.monotonicMs())
    } catch (error) {
      onFailure(error)
    }
    stats.latePackets += reorderer.latePackets - late
    late = reorderer.latePackets
  })
  let reportPort: number | undefined
  rtcp.on('message', (packet, sender) => {
    if (!isFromCamera(sender.address)) return
    reportPort ??= sender.port
    tap?.({ kind: 'rtcp', track, bytes: packet })
    try {
      handler.onRtcp(packet, 0, packet.length)
    } catch (error) {
      onFailure(error)
    }
  })
  return {
    offer: writeUdpTransport(port),
    accept(response) {
      const transport = response === undefined ? undefined : parseUdpTransport(response)
      if (response !== undefined && (!transport || transport.isMulticast))
        throw refused(transport?.isMulticast ?? false)
      const { serverRtpPort = 0, serverRtcpPort = 0 } = transport ?? {}
      // Routers and firewalls pass incoming packets after an outgoing one.
      if (isFreePort(serverRtpPort)) rtp.send(writePunch(handler.payloadType, ownSsrc), serverRtpPort, camera.address)
      if (!isFreePort(serverRtcpPort)) return
      reportPort = serverRtcpPort
      rtcp.send(writeEmptyReport(ownSsrc), serverRtcpPort, camera.address)
    },
    sendReport(report) {
      if (reportPort !== undefined) rtcp.send(report, reportPort, camera.address)
    },
    [Symbol.dispose]() {
      release()
      rtp.close()
      rtcp.close()
    },
  }
}

/** An RTP packet without payload, which a camera ignores. */
function writePunch(payloadType: number, ssrc: number): Uint8Array {
  return writeRtpPacket({ payloadType, isMarked: false, sequence: 0, timestamp: 0, ssrc }, new Uint8Array())
}

type Pair = { readonly rtp: Socket; readonly rtcp: Socket; readonly port: number }

async function openPair(family: 4 | 6, address: string): Promise<Pair> {
  for (let i = 0; i < maxTries; i++) {
    const first = await bind(family, address, 0)
    const port = first?.address().port
    if (!first || port === undefined) break
    const isEven = port % 2 === 0
    const second = await bind(family, address, isEven ? port + 1 : port - 1)
    if (second) return isEven ? { rtp: first, rtcp: second, port } : { rtp: second, rtcp: first, port: port - 1 }
    first.close()
  }
  throw new CameraError(
    'no_frames',
    "This server has no free pair of UDP ports for the camera's stream: close other programs that use many ports.",
  )
}

/** Returns undefined if the port is in use. */
function bind(family: 4 | 6, address: string, port: number): Promise<Socket | undefined> {
  const socket = createSocket({ type: family === 4 ? 'udp4' : 'udp6', recvBufferSize: receiveBufferBytes })
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close()
      resolve(undefined)
    })
    socket.bind({ port, address, exclusive: true }, () => {
      socket.removeAllListeners('error')
      // A packet that cannot be sent does not matter, because the session depends only on the frames that arrive.
      socket.on('error', () => {})
      resolve(socket)
    })
  })
}

function canonical({ address, family }: TestedAddress): string {
  return new SocketAddress({ address, family: family === 4 ? 'ipv4' : 'ipv6' }).address
}

function refused(isMulticast: boolean): CameraError {
  const detail = isMulticast
    ? 'The camera sends its stream by multicast only, which is not supported: switch off multicast for this stream in the camera.'
    : 'The camera refuses to send its stream over TCP or UDP: enable RTSP over TCP in the camera.'
  return new CameraError('no_frames', detail, { status: 461 })
}
