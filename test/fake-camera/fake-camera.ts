// A real RTSP camera for tests, benches and the demo: draws, encodes and sends; and fails on demand. No part of the
// service.
//
// Speaks RTSP 1.0 with RTP over the same connection, through the service's own writers; docs/design/fake-camera.md.

import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { type Clock, systemClock } from '../../server/base/clock.ts'
import { findOwnPort } from '../support/own-port.ts'
import type { FrameCounter } from './frame-counter.ts'
import type { CameraAuth } from './rtsp/access.ts'
import { RtspConnection } from './rtsp/connection.ts'
import type { DatagramRoute } from './rtsp/datagram-track.ts'
import type { PacketFault } from './rtsp/packet-faults.ts'
import { createStreamFaults, type DescriptionFault, type StreamFaults } from './rtsp/stream-faults.ts'
import { LiveSource } from './source/live-source.ts'
import { encodeLoopClip, type LoopClip } from './source/loop-clip.ts'
import { LoopSource } from './source/loop-source.ts'
import type { MediaSource } from './source/media-source.ts'
import { Pacer } from './source/pacer.ts'
import { type ResolvedStream, resolveStream, type StreamOptions } from './source/stream-options.ts'

export type FakeCameraOptions = {
  /** 0, the default: any free one. */
  readonly port?: number
  readonly host?: string
  readonly streams: readonly StreamOptions[]
  readonly auth?: CameraAuth
  /** RTP in datagrams, which may get lost; over the RTSP connection (the default) is refused then. */
  readonly isDatagram?: boolean
  /** Whom datagrams are for, and the own address that they come from, by the client's port; unless given, both are on loopback. */
  readonly findClient?: (port: number) => DatagramRoute
  /** 60 s unless given. */
  readonly sessionTimeoutMs?: number
  readonly clock?: Clock
  /** Told of each picture of a live stream when it was handed to a connection whole, with the time it was taken. */
  readonly onSent?: (streamName: string, taken: FrameCounter) => void
}

export type CameraStats = {
  readonly connections: number
  readonly streams: {
    readonly [name: string]: {
      readonly players: number
      /** Pictures sent to at least one player. */
      readonly framesSent: number
      /** To all players together. */
      readonly bytesSent: number
      /** Pictures a player now connected did not get: it was too slow, or the camera stalled. */
      readonly framesDropped: number
    }
  }
}

/** Every fault hits one stream when it is named, else all. */
export type CameraFaults = {
  /** Cuts the connections there are; new ones are welcome. */
  dropConnections(name?: string): void
  /** Cuts all connections and refuses new ones for so long. Resolves when they are refused. */
  refuseConnections(ms: number): Promise<void>
  /** Sends and answers nothing for so long, with connections open. */
  stall(ms: number, name?: string): void
  /** Steps the wall clock and the RTP timestamps, forwards or (below 0) backwards. */
  jumpClock(ms: number, name?: string): void
  /** Sends no audio while muted, though it is described. */
  muteAudio(isMuted: boolean, name?: string): void
  /** Sends so many times fewer pictures, stamped as if all came, as cheap cameras do at night; 1 ends it. Live streams without audio only. */
  slowDown(factor: number, name?: string): void
  /** To two thirds of the size and, the next time, back. Resolves when the new size is what is sent next. */
  changeResolution(name?: string): Promise<void>
  /** Bytes that are no RTSP into the connections. */
  sendGarbage(byteCount: number, name?: string): void
  /** Spoils some of the packets of pictures for so long; `random` is uniform in [0, 1). */
  spoilPackets(kind: PacketFault, ms: number, random: () => number, name?: string): void
  /** Another RTP source with other numbers, which wrap after so long; the connections stand. */
  restartEncoder(wrapMs: number, name?: string): void
  /** Says that the stream is over (RTCP BYE) and sends no more over the connections there are. */
  endStream(name?: string): void
  /** To H.265 and, the next time, back; of loops. Cameras drop their connections when they do that. */
  changeCodec(name?: string): Promise<void>
  describeAs(fault: DescriptionFault, name?: string): void
  /** Answers DESCRIBE and SETUP with this status, a redirect to nowhere included; undefined = as it should. */
  answerWith(status: number | undefined, name?: string): void
}

export type FakeCamera = AsyncDisposable & {
  readonly port: number
  /** Without user information; throws when there is no such stream. */
  url(name: string): string
  readonly faults: CameraFaults
  stats(): CameraStats
}

type Stream = { readonly source: MediaSource; readonly faults: StreamFaults }

/** Resolves when it listens and every stream can be described. */
export async function openFakeCamera(options: FakeCameraOptions): Promise<FakeCamera> {
  const {
    host = '127.0.0.1',
    auth,
    isDatagram = false,
    findClient = () => ({ address: '127.0.0.1', from: '127.0.0.1' }),
    sessionTimeoutMs = 60_000,
    clock = systemClock,
    onSent,
  } = options
  const pacer = new Pacer(clock)
  const streams = await openStreams(options.streams, clock, pacer)
  const connections = new Set<RtspConnection>()
  const server = createServer((socket) => {
    const onClose = (connection: RtspConnection) => connections.delete(connection)
    const findStream = (name: string) => streams.get(name)
    connections.add(
      new RtspConnection(socket, {
        findStream,
        auth,
        sessionTimeoutMs,
        isDatagram,
        findClient,
        clock,
        onClose,
        onSent,
      }),
    )
  })
  const port = options.port || (await findOwnPort(host))
  await listen(server, port, host)
  const closing = new AbortController()
  let reopening = Promise.resolve()
  const select = (name?: string) => (name === undefined ? [...streams.values()] : [getStream(streams, name)])
  const connectionsOf = (name?: string) =>
    [...connections].filter((each) => name === undefined || each.streamName === name)
  return {
    port,
    url: (name) => `rtsp://${host}:${port}/${getStream(streams, name).source.name}`,
    faults: {
      dropConnections(name) {
        for (const connection of connectionsOf(name)) connection.destroy()
      },
      async refuseConnections(ms) {
        if (!server.listening) return
        const closed = once(server, 'close')
        server.close()
        for (const connection of connections) connection.destroy()
        await closed
        reopening = clock.sleep(ms, closing.signal).then(
          () => listen(server, port, host),
          // Disposed meanwhile: it stays closed.
          () => {},
        )
      },
      stall(ms, name) {
        for (const { faults } of select(name)) faults.stalledUntilMs = clock.monotonicMs() + ms
      },
      jumpClock(ms, name) {
        for (const { source } of select(name)) source.jumpClock(ms)
      },
      muteAudio(isMuted, name) {
        for (const { source } of select(name)) source.muteAudio(isMuted)
      },
      slowDown(factor, name) {
        for (const { source } of select(name)) source.slowDown(factor)
      },
      async changeResolution(name) {
        for (const { source } of select(name)) await source.changeResolution()
      },
      sendGarbage(byteCount, name) {
        const bytes = Uint8Array.from({ length: byteCount }, (_, i) => (i * 197 + 1) % 32)
        for (const connection of connectionsOf(name)) connection.sendGarbage(bytes)
      },
      spoilPackets(kind, ms, random, name) {
        const untilMs = clock.monotonicMs() + ms
        for (const { faults } of select(name)) faults.packets = { kind, random, untilMs }
      },
      restartEncoder(wrapMs, name) {
        for (const { source } of select(name)) source.outlet.restartTracks(wrapMs / 1000)
      },
      endStream(name) {
        for (const connection of connectionsOf(name)) connection.sayBye()
      },
      async changeCodec(name) {
        for (const { source } of select(name)) await source.changeCodec()
        for (const connection of connectionsOf(name)) connection.destroy()
      },
      describeAs(fault, name) {
        for (const { faults } of select(name)) faults.description = fault
      },
      answerWith(status, name) {
        for (const { faults } of select(name)) faults.status = status
      },
    },
    stats: () => ({
      connections: connections.size,
      streams: Object.fromEntries(
        [...streams].map(([name, { source }]) => [
          name,
          { ...source.stats(), framesDropped: connectionsOf(name).reduce((sum, each) => sum + each.droppedFrames, 0) },
        ]),
      ),
    }),
    async [Symbol.asyncDispose]() {
      closing.abort()
      await reopening
      const closed = server.listening ? once(server, 'close') : undefined
      server.close()
      for (const connection of connections) connection.destroy()
      await closed
      for (const { source } of streams.values()) await source.close()
      await pacer.close()
    },
  }
}

async function openStreams(list: readonly StreamOptions[], clock: Clock, pacer: Pacer): Promise<Map<string, Stream>> {
  const streams = new Map<string, Stream>()
  const clips = new Map<string, Promise<LoopClip>>()
  const openClip = (stream: ResolvedStream) => {
    const { name: _, ...alike } = stream
    const key = JSON.stringify(alike)
    const clip = clips.get(key) ?? encodeLoopClip(stream, stream.loopSeconds ?? 10, clock.nowMs())
    clips.set(key, clip)
    return clip
  }
  for (const [index, each] of list.entries()) {
    const stream = resolveStream(each)
    const source =
      stream.loopSeconds === undefined
        ? await LiveSource.open(stream, clock)
        : new LoopSource({
            stream,
            clip: await openClip(stream),
            openClip: ({ codec, isSmall }) =>
              openClip({
                ...stream,
                codec,
                width: isSmall ? twoThirds(stream.width) : stream.width,
                height: isSmall ? twoThirds(stream.height) : stream.height,
              }),
            index,
            clock,
            pacer,
          })
    streams.set(stream.name, { source, faults: createStreamFaults() })
  }
  return streams
}

function getStream(streams: ReadonlyMap<string, Stream>, name: string): Stream {
  const stream = streams.get(name)
  if (!stream) throw new Error(`expected one of the streams ${[...streams.keys()].join(', ')}, not ${name}`)
  return stream
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}

function twoThirds(size: number): number {
  return Math.round(size / 3) * 2
}
