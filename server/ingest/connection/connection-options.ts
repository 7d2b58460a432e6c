// The options of one connection to a camera, shared by the code that opens connections and by each protocol.

import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { ContainerReader } from '../../media/container/container-stream.ts'
import type { CameraStreamOptions } from '../frames/camera-stream.ts'
import type { FrameWatchLimits } from '../frames/frame-watch.ts'
import type { AddressGuard, TestedAddress } from '../network/address-guard.ts'
import type { Credentials } from '../network/camera-auth.ts'
import type { CameraUrl } from '../network/camera-url.ts'
import type { ConnectLimiter } from '../network/connect-limiter.ts'
import type { SharedReads } from '../network/shared-reads.ts'
import type { StreamPlan } from '../plan/stream-plan.ts'
import type { CameraMemory } from './camera-memory.ts'

export type CameraConnectionOptions = Omit<CameraStreamOptions, 'plan'> & {
  readonly url: string
  readonly credentials: Credentials | undefined
  readonly addressGuard: AddressGuard
  readonly clock: Clock
  readonly log: Logger
  readonly reads: SharedReads
  readonly signal: AbortSignal
  readonly limits: ConnectionLimits
  /** What earlier connections learned about the camera. */
  readonly memory: CameraMemory
  readonly connectLimiter: ConnectLimiter
  /** Reads containers that arrive over HTTP. Without a reader, such streams are refused. */
  readonly containers?: ContainerReader | undefined
  /** Called as soon as it is known what the camera offers. */
  onLearned?(learned: LearnedStream): void
}

/** What is known about a stream before its first frame. */
export type LearnedStream = {
  /** Set for RTSP and for containers, which describe their tracks. */
  readonly plan?: StreamPlan
  readonly transport?: 'rtsp_tcp' | 'rtsp_udp' | 'http_stream' | 'http_picture'
}

/** What a protocol needs: the parsed URL and the IP address to connect to. */
export type ConnectedOptions = Omit<CameraConnectionOptions, 'url' | 'addressGuard' | 'connectLimiter'> & {
  readonly url: CameraUrl
  readonly address: TestedAddress
  /** Called when the camera has accepted the request for its frames. */
  onSetUp(): void
}

export type ConnectionLimits = FrameWatchLimits & {
  readonly connectMs: number
  readonly responseMs: number
  /** The longest wait for the first packet over UDP, which a firewall may block. */
  readonly udpMs: number
}

export const defaultLimits: ConnectionLimits = {
  connectMs: 10_000,
  responseMs: 10_000,
  udpMs: 5000,
  pictureMs: 10_000,
  keyFrameMs: 75_000,
}
