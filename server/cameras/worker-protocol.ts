// What the main thread and a media worker say to each other. Plain data: it crosses a MessagePort.
//
// Packets never cross. Index rows, changes of state, and (only while somebody watches) finished live chunks do.

import type { GapReason } from '../../contract/gap-reasons.ts'
import type { Isolation } from '../decoder/isolation/isolation.ts'
import type { AddressRules } from '../ingest/address-guard.ts'
import type { SessionStatus } from '../ingest/camera-session.ts'
import type { DetectedStream, DetectionTarget } from '../ingest/detection/detect-stream.ts'
import type { DiscoveredDevice } from '../ingest/onvif/discover-devices.ts'
import type { OnvifDevice, OnvifTarget } from '../ingest/onvif/read-device.ts'
import type { LiveChunk, LiveFormat } from '../live/live-source.ts'
import type { Fragment } from '../model/segment.ts'
import type { ConfirmedPart, OpenSegment } from '../model/segment-views.ts'
import type { RecordingStatus } from '../recorder/recorder.ts'
import type { CountersOfCamera } from './camera-meter.ts'

/** What a worker must know of a camera to run it. */
export type CameraJob = {
  readonly cameraId: number
  /** Whose it is: names are looked up on behalf of that account. */
  readonly ownerId: number
  /** See `RunCameraOptions`: whether that account owns the server. */
  readonly tellsAll: boolean
  /** Without user information. */
  readonly url: string
  readonly username?: string
  readonly password?: string
  /** Pictures damaged by loss are shown and recorded as they come, instead of dropped up to the next key frame. */
  readonly keepsDamaged?: boolean
  /** Undefined when nothing is recorded. `startReason`: why there is no footage just before this recording begins. */
  readonly recording: { readonly startReason: GapReason } | undefined
}

/** Given to a worker when it starts. */
export type WorkerSettings = {
  readonly archiveDir: string
  readonly syncIntervalMs: number
  /** What the recorders of a worker may hold of frames together while the disk is slow. */
  readonly pendingBytes: number
  /** What hubs may keep before the newest group of pictures, for players of HLS. */
  readonly earlierBytes: number
  /** Groups of pictures kept for viewers that come, of all cameras. */
  readonly groupBytes: number
  /** Of the archive's disk, as configured; see model/free-space.ts. */
  readonly minFreeBytes: number | undefined
  /** How many operations of a worker the archive's disk is asked for at once. */
  readonly diskOperations: number
  /** Where cameras may be. */
  readonly addressRules: AddressRules
  /** That names of cameras are looked up at; undefined: those of the system. */
  readonly nameServers: readonly string[] | undefined
  /** How many connections to one host and port a worker sets up at a time. */
  readonly connectsPerHost: number
  /** Of the processes that take containers apart and encode audio. */
  readonly isolation: Isolation
  /** Processes that take containers apart; what each process that decodes may take beyond its runtime. */
  readonly containers: number
  readonly decodingBytes: number
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

/** What a worker thread is started with. */
export type WorkerStart = WorkerSettings & {
  /** Wakes it from its rests, see base/thread-rest.ts: whoever posts a message does. */
  readonly alarm: SharedArrayBuffer
}

/** About what is no camera of this server yet. */
export type Question = {
  /** Who asks. */
  readonly account: number
} & (
  | { readonly kind: 'stream'; readonly target: DetectionTarget }
  | { readonly kind: 'onvif_devices' }
  | { readonly kind: 'onvif_device'; readonly target: OnvifTarget }
)

/** What is asked about never fails; `undefined` in its place is a fault of ours. */
export type Answer =
  | { readonly kind: 'stream'; readonly stream: DetectedStream }
  | { readonly kind: 'onvif_devices'; readonly devices: readonly DiscoveredDevice[] }
  | { readonly kind: 'onvif_device'; readonly device: OnvifDevice }

/** Of a kind of question. */
export type AnswerTo<Q extends Question> = Extract<Answer, { kind: Q['kind'] }>

export type ToWorker =
  /** Adds the camera, or changes it: a new address reconnects, recording is switched without touching the connection. */
  | { readonly type: 'set_camera'; readonly job: CameraJob }
  | { readonly type: 'remove_camera'; readonly cameraId: number }
  | {
      readonly type: 'subscribe'
      readonly subscriptionId: number
      readonly cameraId: number
      readonly format: LiveFormat
      readonly minIntervalMs: number | undefined
    }
  /** The main thread has taken `bytes` of chunks off its hands. */
  | { readonly type: 'ack'; readonly subscriptionId: number; readonly bytes: number }
  | { readonly type: 'unsubscribe'; readonly subscriptionId: number }
  /** To be answered once, by `answered`, unless it is taken back before. */
  | { readonly type: 'ask'; readonly questionId: number; readonly question: Question }
  | { readonly type: 'take_back'; readonly questionId: number }
  /** Finish the open fragments, answer `stopped`, end. */
  | { readonly type: 'stop' }

/** Sent in lists; of one camera in the order of what happened, chunks apart. */
export type FromWorker =
  | { readonly type: 'camera_status'; readonly cameraId: number; readonly status: SessionStatus }
  /** Key frames of the camera are so far apart; when that is known and when it changes. */
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
  /** From `atMs` on nothing is recorded, for this reason; undefined: it is again. */
  | {
      readonly type: 'recording_gap'
      readonly cameraId: number
      readonly atMs: number
      readonly reason: string | undefined
    }
  /** `CameraStats.clockRate` has become wrong, or right again (1). */
  | { readonly type: 'camera_clock'; readonly cameraId: number; readonly rate: number }
  | { readonly type: 'chunk'; readonly subscriptionId: number; readonly chunk: LiveChunk }
  /** An error that nobody caught came up while this camera was handled: the worker ends over it. */
  | { readonly type: 'worker_failed'; readonly cameraId: number }
  /** The footage of a removed camera is closed: its files may be deleted. */
  | { readonly type: 'camera_removed'; readonly cameraId: number }
  | { readonly type: 'answered'; readonly questionId: number; readonly answer: Answer | undefined }
  | { readonly type: 'stats'; readonly stats: WorkerStats; readonly cameras: readonly CountersOfCamera[] }
  | { readonly type: 'stopped' }

/** Sums over the cameras of a worker, for the metrics. Counters never decrease while the worker lives. */
export type WorkerStats = {
  readonly cameras: number
  readonly packets: number
  readonly lostPackets: number
  readonly videoFrames: number
  readonly receivedBytes: number
  readonly connections: number
  readonly recordedBytes: number
  readonly droppedFrames: number
  /** Bytes of frames that recorders hold: of open fragments, and of those that wait for the disk. */
  readonly pendingBytes: number
  /** The longest that a recorder has been waiting for the disk, milliseconds. */
  readonly diskWaitMs: number
  /** Blocks of AAC made of telephone audio, what was dropped of that, and how often its process was lost. */
  readonly audioBlocks: number
  readonly droppedAudio: number
  readonly audioCrashes: number
  /** Longest time the worker's event loop was blocked since the last report, milliseconds. */
  readonly loopDelayMs: number
}
