// One track whose packets come in datagrams: a pair of sockets, packets put in order, none taken but from the camera's
// address (RFC 2326 12.39, RFC 3550 11).

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
import type { TrackHandler, TrackTransport } from './track-transport.ts'

export type UdpTrackOptions = {
  readonly camera: TestedAddress
  /** Of the RTSP connection: the sockets listen on the same interface. */
  readonly localAddress: string
  readonly handler: TrackHandler
  readonly ownSsrc: number
  readonly stats: CameraStats
  readonly clock: Clock
  readonly reads: SharedReads
  /**
   * What is thrown while a datagram is handled: a bug of ours, which must end this camera's session and nothing else.
   */
  readonly onFailure: (error: unknown) => void
}

/** A burst of a large picture has to fit until the thread comes to read it; the system may give less. */
const receiveBufferBytes = 2 * 1024 * 1024

/** Pairs tried: RTP on an even port, RTCP on the next. */
const maxTries = 20

/** A camera has no business sending us to services. */
const isFreePort = (port: number) => port >= 1024 && !isServicePort(port)

/** Opens the sockets; the camera is told of them by `offer`. @throws CameraError when there is no free pair of ports */
export async function openUdpTrack(options: UdpTrackOptions): Promise<TrackTransport> {
  const { camera, localAddress, handler, ownSsrc, stats, clock, reads, onFailure } = options
  const { rtp, rtcp, port } = await openPair(camera.family, localAddress)
  // What the system has no room for while nobody looks is lost.
  const release = reads.hold()
  const reorderer = new RtpReorderer({ onPacket: (packet) => handler.onRtp(packet, 0, packet.length) })
  const cameraAddress = canonical(camera)
  const isCameras = (address: string) => {
    const isOwn = address === cameraAddress
    if (!isOwn) stats.foreignPackets++
    return isOwn
  }
  let late = 0
  rtp.on('message', (packet, { address }) => {
    if (!isCameras(address)) return
    stats.receivedBytes += packet.length
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
    if (!isCameras(sender.address)) return
    reportPort ??= sender.port
    try {
      handler.onRtcp(packet, 0, packet.length)
    } catch (error) {
      onFailure(error)
    }
  })
  return {
    offer: writeUdpTransport(port),
    accept(answer) {
      const transport = answer === undefined ? undefined : parseUdpTransport(answer)
      if (answer !== undefined && (!transport || transport.isMulticast)) throw refused(transport?.isMulticast ?? false)
      const { serverRtpPort = 0, serverRtcpPort = 0 } = transport ?? {}
      // Routers and firewalls on the way let in what answers to something.
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

/** An RTP packet without payload, which a camera drops. */
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
  throw new CameraError('no_frames', "This server has no free pair of UDP ports for the camera's stream.")
}

/** Undefined when the port is taken. */
function bind(family: 4 | 6, address: string, port: number): Promise<Socket | undefined> {
  const socket = createSocket({ type: family === 4 ? 'udp4' : 'udp6', recvBufferSize: receiveBufferBytes })
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close()
      resolve(undefined)
    })
    socket.bind({ port, address, exclusive: true }, () => {
      socket.removeAllListeners('error')
      // What cannot be sent is missed by nobody: whether pictures come is what counts.
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
    ? 'The camera sends its stream by multicast only, which is not supported: switch multicast off for this stream.'
    : 'The camera sends its stream neither over the TCP connection nor over UDP: allow RTSP over TCP in the camera.'
  return new CameraError('no_frames', detail, { status: 461 })
}
