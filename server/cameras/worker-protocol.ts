// Messages between the main thread and a media worker: plain data sent through a MessagePort.
//
// Packets are never sent. Index rows, status changes and, while somebody watches, finished live chunks are.

import type { GapReason } from '../../contract/gap-reasons.ts'
import type { RecordingStatus } from '../../contract/recording-status.ts'
import type { ClockStart } from '../base/start-clock.ts'
import type { Isolation } from '../decoder/isolation/isolation.ts'
import type { DetectedStream, DetectionTarget } from '../ingest/detection/detect-stream.ts'
import type { AddressRules } from '../ingest/network/address-guard.ts'
import type { DiscoveredDevice } from '../ingest/onvif/discover-devices.ts'
import type { OnvifDevice, OnvifTarget } from '../ingest/onvif/read-device.ts'
import type { SessionStatus } from '../ingest/session/camera-session.ts'
import type { LiveChunk, LiveFormat } from '../live/live-source.ts'
import type { Place } from '../model/place.ts'
import type { Fragment } from '../model/segment.ts'
import type { ConfirmedPart, OpenSegment } from '../model/segment-views.ts'
import type { CountersOfCamera } from './camera-meter.ts'

/** What a worker needs to know to run a camera. */
export type CameraJob = {
  readonly cameraId: number
  /** Id of the owner, on whose behalf host names are resolved. */
  readonly ownerId: number
  /** True if that account owns the server; see `RunCameraOptions`. */
  readonly canSeeProblems: boolean
  /** Without user information. */
  readonly url: string
  readonly username?: string
  readonly password?: string
  /** Frames damaged by loss are shown and recorded as received, instead of dropped until the next key frame. */
  readonly keepsDamaged?: boolean
  /**
   * Undefined if the camera is not recorded. `startReason`: why there is no footage just before this recording begins.
   * `leaseEpoch`, `notBeforeMs`: see `RecorderOptions`.
   */
  readonly recording:
    | {
        readonly startReason: GapReason
        readonly leaseEpoch?: number
        readonly notBeforeMs?: number | undefined
      }
    | undefined
}

/** Settings that a worker gets when it starts. */
export type WorkerSettings = {
  readonly syncIntervalMs: number
  /** Bytes of frames that all recorders of a worker may buffer while the disk is slow. */
  readonly pendingBytes: number
  /** Bytes that hubs may keep before the newest group of pictures, for HLS players. */
  readonly earlierBytes: number
  /** Bytes of groups of pictures that are kept for new viewers, over all cameras. */
  readonly groupBytes: number
  /** Free space to keep on each disk of the archive, as configured; see model/free-space.ts. */
  readonly minFreeBytes: number | undefined
  /** How many disk operations a worker runs at once. */
  readonly diskOperations: number
  /** The networks that cameras may be in. */
  readonly addressRules: AddressRules
  /** DNS servers for host names of cameras; undefined for those of the system. */
  readonly nameServers: readonly string[] | undefined
  /** How many connections a worker sets up at a time per host and port. */
  readonly connectsPerHost: number
  /** Isolation of the processes that demultiplex containers and encode audio. */
  readonly isolation: Isolation
  /** Number of container processes, and the memory that each decoding process may use beyond its runtime. */
  readonly containers: number
  readonly decodingBytes: number
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

/** Data that a worker thread is started with. */
export type WorkerStart = WorkerSettings & {
  readonly places: readonly Place[]
  /** See base/start-clock.ts. */
  readonly clockStart: ClockStart | undefined
  /** Wakes the worker from its rest, see base/thread-rest.ts; used with every message. */
  readonly alarm: SharedArrayBuffer
}

/** A question about a camera that has not been added. */
export type Question = {
  /** Id of the account that asks. */
  readonly account: number
} & (
  | { readonly kind: 'stream'; readonly target: DetectionTarget }
  | { readonly kind: 'onvif_devices' }
  | { readonly kind: 'onvif_device'; readonly target: OnvifTarget }
)

/** A question never fails because of a camera; `undefined` is an internal error. */
export type Answer =
  | { readonly kind: 'stream'; readonly stream: DetectedStream }
  | { readonly kind: 'onvif_devices'; readonly devices: readonly DiscoveredDevice[] }
  | { readonly kind: 'onvif_device'; readonly device: OnvifDevice }

/** The answer to a kind of question. */
export type AnswerTo<Q extends Question> = Extract<Answer, { kind: Q['kind'] }>

export type ToWorker =
  /** Adds or changes a camera: a new URL reconnects; recording is switched without touching the connection. */
  | { readonly type: 'set_camera'; readonly job: CameraJob }
  | { readonly type: 'set_places'; readonly places: readonly Place[] }
  /** `reason`: why there is no footage afterwards. */
  | { readonly type: 'remove_camera'; readonly cameraId: number; readonly reason: GapReason }
  | {
      readonly type: 'subscribe'
      readonly subscriptionId: number
      readonly cameraId: number
      readonly format: LiveFormat
      readonly minIntervalMs: number | undefined
    }
  /** The main thread has consumed `bytes` of chunks. */
  | { readonly type: 'ack'; readonly subscriptionId: number; readonly bytes: number }
  | { readonly type: 'unsubscribe'; readonly subscriptionId: number }
  /** Answered once, by `answered`, unless it is withdrawn before. */
  | { readonly type: 'ask'; readonly questionId: number; readonly question: Question }
  | { readonly type: 'take_back'; readonly questionId: number }
  /** Finish the open fragments, answer `stopped`, and exit. */
  | { readonly type: 'stop' }

/** Sent in batches, in order for each camera except for chunks. */
export type FromWorker =
  | { readonly type: 'camera_status'; readonly cameraId: number; readonly status: SessionStatus }
  /** The distance between the camera's key frames; sent when it is known and when it changes. */
  | { readonly type: 'key_interval'; readonly cameraId: number; readonly intervalMs: number }
  | { readonly type: 'segment_opened'; readonly segment: OpenSegment }
  | {
      readonly type: 'fragment_written'
      readonly cameraId: number
      readonly path: string
      readonly fragment: Fragment
    }
  | {
      readonly type: 'segment_closed'
      readonly cameraId: number
      readonly path: string
      readonly checksum: number
      readonly indexBytes: number
    }
  | {
      readonly type: 'segment_broken'
      readonly cameraId: number
      readonly path: string
      readonly confirmed: ConfirmedPart
    }
  | {
      readonly type: 'recording_status'
      readonly cameraId: number
      readonly status: RecordingStatus
      readonly detail: string | undefined
    }
  /** From `atMs` on nothing is recorded, for this reason; undefined when recording has resumed. */
  | {
      readonly type: 'recording_gap'
      readonly cameraId: number
      readonly atMs: number
      readonly reason: string | undefined
    }
  /** `CameraStats.clockRate` has become wrong, or right again (1). */
  | { readonly type: 'camera_clock'; readonly cameraId: number; readonly rate: number }
  | { readonly type: 'chunk'; readonly subscriptionId: number; readonly chunk: LiveChunk }
  /** An uncaught error occurred while this camera was handled: the worker exits. */
  | { readonly type: 'worker_failed'; readonly cameraId: number }
  /** A place has no room; see `SpreadTargets`. */
  | { readonly type: 'place_full'; readonly placeId: number }
  /** The footage of a removed camera is closed, so its files may be deleted. */
  | { readonly type: 'camera_removed'; readonly cameraId: number }
  | { readonly type: 'answered'; readonly questionId: number; readonly answer: Answer | undefined }
  | { readonly type: 'stats'; readonly stats: WorkerStats; readonly cameras: readonly CountersOfCamera[] }
  | { readonly type: 'stopped' }

/** Sums over the cameras of a worker, for the metrics. Counters never decrease during the worker's lifetime. */
export type WorkerStats = {
  readonly cameras: number
  readonly packets: number
  readonly lostPackets: number
  readonly videoFrames: number
  readonly receivedBytes: number
  readonly connections: number
  readonly recordedBytes: number
  readonly droppedFrames: number
  /** Bytes of frames that recorders hold, in open fragments and waiting for the disk. */
  readonly pendingBytes: number
  /** The longest time that a recorder has been waiting for the disk, in milliseconds. */
  readonly diskWaitMs: number
  /** Encoded AAC blocks of telephony audio, dropped input, and crashes of the encoding process. */
  readonly audioBlocks: number
  readonly droppedAudio: number
  readonly audioCrashes: number
  /** The longest time that the worker's event loop was blocked since the last report, in milliseconds. */
  readonly loopDelayMs: number
}
