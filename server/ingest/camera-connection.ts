// One connection to a camera, from resolving its name to its loss, by the protocol its URL names. Reconnecting is
// camera-session.ts.

import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { ContainerReader } from '../media/container/container-stream.ts'
import type { AddressGuard, TestedAddress } from './address-guard.ts'
import type { Credentials } from './camera-auth.ts'
import type { CameraMemory } from './camera-memory.ts'
import type { CameraStreamOptions } from './camera-stream.ts'
import { type CameraUrl, parseCameraUrl } from './camera-url.ts'
import type { ConnectLimiter } from './connect-limiter.ts'
import type { FrameWatchLimits } from './frame-watch.ts'
import { runHttpCamera } from './http/http-camera.ts'
import { resolveTarget } from './resolve-target.ts'
import { runRtspCamera } from './rtsp-camera.ts'
import type { SharedReads } from './shared-reads.ts'
import type { StreamPlan } from './stream-plan.ts'

export type CameraConnectionOptions = Omit<CameraStreamOptions, 'plan'> & {
  readonly url: string
  readonly credentials: Credentials | undefined
  readonly addressGuard: AddressGuard
  readonly clock: Clock
  readonly log: Logger
  readonly reads: SharedReads
  readonly signal: AbortSignal
  readonly limits: ConnectionLimits
  /** What was learned of the camera in earlier connections. */
  readonly memory: CameraMemory
  readonly connectLimiter: ConnectLimiter
  /** For streams that come in a container by HTTP; without, they are refused. */
  readonly containers?: ContainerReader | undefined
  /** Told of what the camera offers, as soon as it is known. */
  onLearned?(learned: LearnedStream): void
}

/** What is known of a stream before its first picture. */
export type LearnedStream = {
  /** Of RTSP and of containers, which describe what they hold. */
  readonly plan?: StreamPlan
  readonly transport?: 'rtsp_tcp' | 'rtsp_udp' | 'http_stream' | 'http_picture'
}

/** What a protocol needs: the URL taken apart, and the address to connect to. */
export type ConnectedOptions = Omit<CameraConnectionOptions, 'url' | 'addressGuard' | 'connectLimiter'> & {
  readonly url: CameraUrl
  readonly address: TestedAddress
  /** The camera has been asked for its pictures, and will send them. */
  onSetUp(): void
}

export type ConnectionLimits = FrameWatchLimits & {
  readonly connectMs: number
  readonly responseMs: number
  /** Longest wait for the first packet over UDP, which a firewall may keep away. */
  readonly udpMs: number
}

export const defaultLimits: ConnectionLimits = {
  connectMs: 10_000,
  responseMs: 10_000,
  udpMs: 5000,
  pictureMs: 10_000,
  keyFrameMs: 75_000,
}

/** Always ends by throwing: the CameraError that tells why it was lost, or the signal's reason. */
export async function runCameraConnection({
  addressGuard,
  connectLimiter,
  ...options
}: CameraConnectionOptions): Promise<never> {
  const { clock, signal, limits } = options
  const url = parseCameraUrl(options.url)
  // Not known before it is resolved: others that wait may find first that nobody answers.
  options.memory.isPublic = false
  const permit = await connectLimiter.enter(`${url.host}:${url.port}`, signal)
  // A camera is asked several things before it sends, each after the answer to the one before; by HTTP its pictures
  // have no other time than that of their arrival.
  const endAttention = options.reads.attend()
  try {
    const address = await resolveTarget(url, { addressGuard, clock, ms: limits.connectMs, signal })
    options.memory.isPublic = address.isPublic
    const onSetUp = () => {
      permit.release()
      if (url.protocol === 'rtsp') endAttention()
    }
    const connected: ConnectedOptions = { ...options, url, address, onSetUp }
    return await (url.protocol === 'rtsp' ? runRtspCamera(connected) : runHttpCamera(connected))
  } catch (error) {
    permit.release(error)
    throw error
  } finally {
    endAttention()
  }
}
