// What the API asks of the other parts, as types. The wiring hands them in; tests hand in small ones of their own.

import type { RepairProgress } from '../archive/background-repair.ts'
import type { StorageMeter } from '../archive/storage-meter.ts'
import type { Accounts } from '../auth/accounts/accounts.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Audit } from '../auth/guard/audit.ts'
import type { RateLimits } from '../auth/guard/rate-limits.ts'
import type { MediaTokens } from '../auth/media-token.ts'
import type { OAuth } from '../auth/oauth/oauth.ts'
import type { ProviderService } from '../auth/providers/provider-service.ts'
import type { Sessions } from '../auth/sessions/sessions.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { IsolationReport } from '../decoder/isolation/isolation.ts'
import type { DetectedStream } from '../ingest/detection/detect-stream.ts'
import type { DiscoveredDevice } from '../ingest/onvif/discover-devices.ts'
import type { OnvifDevice } from '../ingest/onvif/read-device.ts'
import type { VideoCodec } from '../media/frame.ts'
import type { CameraFigures } from '../model/camera-figures.ts'
import type { LiveView } from '../model/live-view.ts'
import type { Playback } from '../playback/playback.ts'
import type { RecordedImages } from '../playback/recorded-images.ts'
import type { Store } from '../store/store.ts'
import type { CameraAccess } from './camera-access.ts'
import type { CameraSource } from './camera-source.ts'
import type { Measurement } from './metrics.ts'
import type { PagesDeps } from './pages/deps.ts'
import type { ClientLimits } from './transport/connections.ts'
import type { OriginOptions } from './transport/request-origin.ts'
import type { Identity } from './transport/secure-server.ts'
import type { Timeouts } from './transport/timeouts.ts'

/** `waitMs`: how long to wait for the camera's first picture; some seconds by default. */
type Wait = { readonly waitMs?: number | undefined }

/** Live pictures; see live/live-streams.ts. All throw 'unavailable' while the camera is away. */
export type Live = {
  /** Ends when `signal` aborts; a reader that is slow is skipped ahead, it never makes anyone wait. */
  openViewer(
    cameraId: number,
    format: 'mp4' | 'mpegts',
    options: { readonly signal: AbortSignal } & Wait,
  ): AsyncIterable<Uint8Array>
  /** One JPEG per item. `account`: who watches, and takes turns with the others. */
  openMjpeg(
    cameraId: number,
    options: LiveView & { readonly account: number; readonly signal: AbortSignal },
  ): AsyncIterable<Uint8Array>
  snapshot(
    cameraId: number,
    size: Pick<LiveView, 'maxWidth' | 'maxHeight'>,
    options: Wait & { readonly account: number; readonly signal: AbortSignal },
  ): Promise<{ readonly jpeg: Uint8Array; readonly wallMs: number }>
  hlsPlaylist(
    cameraId: number,
    segmentUrl: (name: string) => string,
    options?: Wait & { readonly isEarly?: boolean | undefined },
  ): Promise<string>
  /** Throws 'not_found' for a name the playlist does not hold any more. */
  hlsSegment(cameraId: number, name: string): Promise<Uint8Array>
}

/** The newest kept picture of a camera, which outlives the camera's connection. */
export type Snapshots = {
  find(cameraId: number): Promise<{ readonly jpeg: Uint8Array; readonly takenAtMs: number } | undefined>
}

/** Footage; see playback/playback.ts. */
export type Recorded = Pick<
  Playback,
  | 'info'
  | 'timeline'
  | 'createStream'
  | 'getStreamInfo'
  | 'checkAccess'
  | 'isActive'
  | 'playlist'
  | 'openBytes'
  | 'createDownload'
  | 'openDownload'
  | 'play'
  | 'pause'
  | 'setSpeed'
>

/** Pictures of recorded moments; see playback/recorded-pictures.ts. */
export type PicturesOfFootage = Pick<RecordedImages, 'picture'>

/** The space of recordings; see archive/storage-meter.ts. */
export type StorageSource = Pick<StorageMeter, 'read' | 'forget'>

/** How well the pictures of cameras arrive; see cameras/camera-meter.ts. */
export type FigureSource = { find(cameraId: number): CameraFigures | undefined }

/** How the server is doing. */
export type ServerReport = {
  readonly version: string
  readonly startedAtMs: number
  readonly database: 'sqlite' | 'postgresql'
  readonly mail: 'smtp' | 'folder'
  /** As many groups as there are reasons; `reason` is empty but for cameras that are offline. */
  readonly cameras: readonly {
    readonly status: 'online' | 'offline' | 'unknown'
    readonly reason: string
    readonly cameras: number
  }[]
  readonly workers: { readonly count: number; readonly running: number; readonly restarts: number }
  readonly isolation: IsolationReport
}

/** What is at addresses of cameras, and which cameras there are; see stream-detector.ts. Ends early when `signal` aborts. */
export type Detector = {
  /** Throws 'invalid' naming `url` when no camera may ever be there. Connects to nothing and asks no resolver. */
  checkAddress(url: string): void
  /** Before a camera is connected to an address or with a login that its account has chosen. Throws 'rate_limited' after too many. */
  countTry(userId: number): Promise<void>
  /** Throws 'rate_limited' and 'unavailable' when too many are looked at. */
  detect(source: CameraSource, asker: Asker): Promise<Detection>
  /** Undefined when it cannot be told now. */
  findType(source: CameraSource, asker: Asker): Promise<VideoCodec | undefined>
  /** Throw as `detect`. */
  discover(asker: Asker): Promise<readonly DiscoveredDevice[]>
  readDevice(source: CameraSource, asker: Asker): Promise<OnvifDevice>
}

export type Asker = { readonly userId: number; readonly signal: AbortSignal }

export type Detection = {
  readonly stream: DetectedStream
  /** Undefined when there was no picture, or none could be made of it. */
  readonly snapshot: { readonly jpeg: Uint8Array; readonly width: number; readonly height: number } | undefined
}

export type ApiDeps = {
  readonly store: Pick<
    Store,
    | 'users'
    | 'settings'
    | 'userLimits'
    | 'cameras'
    | 'recordings'
    | 'guests'
    | 'shares'
    | 'events'
    | 'tokens'
    | 'applications'
    | 'version'
    | 'eventsVersion'
    | 'check'
  >
  readonly access: CameraAccess
  readonly authenticator: Pick<Authenticator, 'authenticate' | 'findKnown' | 'isLive'>
  readonly oauth: Pick<OAuth, 'token' | 'revoke' | 'listGrants' | 'revokeGrant'>
  readonly sessions: Pick<Sessions, 'list' | 'revoke'>
  /** Identity providers that people sign in with. */
  readonly providers: Pick<ProviderService, 'providers' | 'list' | 'unlink'>
  readonly accounts: Pick<
    Accounts,
    | 'guests'
    | 'add'
    | 'invite'
    | 'change'
    | 'signOut'
    | 'remove'
    | 'changePassword'
    | 'requestEmailChange'
    | 'provePassword'
    | 'removeSecondFactor'
    | 'notifyInClear'
  >
  readonly audit: Pick<Audit, 'write'>
  readonly mediaTokens: Pick<MediaTokens, 'sign' | 'verify' | 'nextExpiryMs'>
  readonly live: Live
  readonly recorded: Recorded
  readonly recordedPictures: PicturesOfFootage
  readonly storage: StorageSource
  /** Of files that were left open. */
  readonly repair: () => RepairProgress
  readonly figures: FigureSource
  readonly report: () => ServerReport
  readonly snapshots: Snapshots
  readonly detector: Detector
  /** Cameras of one user, but for owners of the server; undefined for any number. */
  readonly cameraLimit?: number | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Where clients reach the server: every link begins with its origin, never with a request's Host. */
  readonly publicUrl: string
  /** Undefined: plain HTTP, for a proxy alone; see `origin`. */
  readonly identity: Identity | undefined
  /** Whom to believe about where requests come from, and the names of this server besides that of `publicUrl`. */
  readonly origin?: Pick<OriginOptions, 'proxies' | 'hosts'>
  /** Default: none. */
  readonly limits?: RateLimits
  /** Default: none. */
  readonly pages?: PagesDeps
  /** The folder of the built dashboard; where there is none, the account page is what is seen first. */
  readonly dashboard?: string
  readonly timeouts?: Timeouts
  /** Default: none. */
  readonly clientLimits?: ClientLimits
  /** What the other parts measure, for /metrics. */
  readonly measure?: () => readonly Measurement[]
}
