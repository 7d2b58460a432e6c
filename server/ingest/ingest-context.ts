// What all camera connections of a thread share. It is passed through every layer of ingest as one value.

import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { ContainerReader } from '../media/container/container-stream.ts'
import type { FrameMemoryPool } from '../media/frame-memory.ts'
import type { AudioTranscoder } from '../media/telephony/audio-transcoder.ts'
import type { AddressGuard } from './network/address-guard.ts'
import type { ConnectLimiter } from './network/connect-limiter.ts'
import type { SharedReads } from './network/shared-reads.ts'
import type { SessionTap } from './recorded/session-tap.ts'

export type IngestContext = {
  readonly clock: Clock
  readonly log: Logger
  /** Decides which IP addresses the camera's account may connect to. */
  readonly addressGuard: AddressGuard
  /** Limits how many connections to a host are set up at the same time. */
  readonly connectLimiter: ConnectLimiter
  readonly reads: SharedReads
  /** Transcodes audio that browsers cannot play. Without it, such audio is dropped. */
  readonly transcoder?: AudioTranscoder | undefined
  /** Reads containers that arrive over HTTP. Without a reader, such streams are refused. */
  readonly containers?: ContainerReader | undefined
  /** The memory of frames. Without it, memory is not reused. */
  readonly pool?: FrameMemoryPool | undefined
  /** Is told what connections carry. */
  readonly tap?: SessionTap | undefined
}
