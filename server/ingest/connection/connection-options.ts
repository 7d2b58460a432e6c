// The options of one connection to a camera, shared by the code that opens connections and by each protocol.

import type { CameraStreamOptions } from '../frames/camera-stream.ts'
import type { FrameWatchLimits } from '../frames/frame-watch.ts'
import type { IngestContext } from '../ingest-context.ts'
import type { TestedAddress } from '../network/address-guard.ts'
import type { Credentials } from '../network/camera-auth.ts'
import type { CameraUrl } from '../network/camera-url.ts'
import type { StreamPlan } from '../plan/stream-plan.ts'
import type { CameraMemory } from './camera-memory.ts'

export type CameraConnectionOptions = Omit<CameraStreamOptions, 'plan' | 'runLimit' | keyof IngestContext> & {
  readonly context: IngestContext
  readonly url: string
  readonly credentials: Credentials | undefined
  readonly signal: AbortSignal
  readonly limits: ConnectionLimits
  /** What earlier connections learned about the camera. */
  readonly memory: CameraMemory
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
export type ConnectedOptions = Omit<CameraConnectionOptions, 'url'> & {
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
  frameMs: 10_000,
  answeringMs: 30_000,
  keyFrameMs: 75_000,
}
