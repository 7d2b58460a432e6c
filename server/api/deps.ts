// The dependencies of the API, as types. The wiring passes the real ones, and tests pass small ones of their own.

import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RepairProgress } from '../archive/background-repair.ts'
import type { StorageMeter } from '../archive/storage-meter.ts'
import type { Accounts } from '../auth/accounts/accounts.ts'
import type { Authenticator } from '../auth/authenticator.ts'
import type { CredentialParts } from '../auth/credential-parts.ts'
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
import type { FileLocation } from '../model/segment-views.ts'
import type { FootageFile } from '../places/place-files.ts'
import type { Playback } from '../playback/playback.ts'
import type { RecordedImages } from '../playback/recorded-images.ts'
import type { ListedNode } from '../store/server/placements.ts'
import type { Store } from '../store/store.ts'
import type { CameraAccess } from './camera-access.ts'
import type { CameraSource } from './camera-source.ts'
import type { Measurement, ServerMetrics } from './metrics.ts'
import type { PagesDeps } from './pages/deps.ts'
import type { Peer } from './peers/membership.ts'
import type { OwnAuthority } from './transport/certificate.ts'
import type { ClientLimits } from './transport/connections.ts'
import type { OriginOptions } from './transport/request-origin.ts'
import type { Identity } from './transport/secure-server.ts'
import type { Timeouts } from './transport/timeouts.ts'

/** `waitMs`: how long to wait for the camera's first frame; some seconds by default. */
type Wait = { readonly waitMs?: number | undefined }

/** Live views; see live/live-camera.ts. All throw 'unavailable' while the camera is offline. */
export type Live = { camera(id: number): LiveCamera }

/** Up to where a player waits for the playlist. */
export type HlsPosition = { readonly sequence: number; readonly part?: number | undefined }

type Holding = { readonly account?: number | undefined; readonly signal?: AbortSignal | undefined }

export type LiveCamera = {
  /** Ends when `signal` aborts. A slow reader skips ahead and never blocks others. */
  openViewer(format: 'mp4' | 'mpegts', options: { readonly signal: AbortSignal } & Wait): AsyncIterable<Uint8Array>
  /** For Media Source; see live/mse-stream.ts. */
  openMseViewer(
    options: { readonly hasAudio: boolean; readonly signal: AbortSignal } & Wait,
  ): AsyncIterable<{ readonly codecs: string; readonly data: Uint8Array }>
  /** One JPEG per item. `account`: the viewer, who takes turns with others. */
  openMjpeg(options: LiveView & { readonly account: number; readonly signal: AbortSignal }): AsyncIterable<Uint8Array>
  snapshot(
    size: Pick<LiveView, 'maxWidth' | 'maxHeight'>,
    options: Wait & { readonly account: number; readonly signal: AbortSignal },
  ): Promise<{ readonly jpeg: Uint8Array; readonly wallMs: number }>
  hlsPlaylist(
    segmentUrl: (name: string) => string,
    options?: Wait & Holding & { readonly isEarly?: boolean | undefined; readonly until?: HlsPosition | undefined },
  ): Promise<string>
  /** Throws 'not_found' for a name that has left the playlist. Waits for the part that comes next. */
  hlsSegment(name: string, options?: Holding): Promise<Uint8Array>
}

/** The newest stored snapshot of a camera, which is also available while the camera is offline. */
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

/** Images of recorded moments; see playback/recorded-images.ts. */
export type RecordedImageSource = Pick<RecordedImages, 'getImage'>

/** Storage used by recordings; see archive/storage-meter.ts. */
export type StorageSource = Pick<StorageMeter, 'read' | 'forget'>

/** Stream statistics of cameras; see cameras/camera-meter.ts. */
export type FigureSource = { find(cameraId: number): CameraFigures | undefined }

/** State of the server. */
export type ServerReport = {
  readonly version: string
  readonly startedAtMs: number
  readonly database: 'sqlite' | 'postgresql'
  readonly mail: 'smtp' | 'folder'
  readonly mailsWaiting: number
  readonly mailProblem: string | undefined
  readonly workers: { readonly count: number; readonly running: number; readonly restarts: number }
  readonly isolation: IsolationReport
}

/** Tests camera URLs and discovers cameras; see stream-detector.ts. Stops early when `signal` aborts. */
export type Detector = {
  /** Throws 'invalid' naming `url` if no camera can ever be there. Needs neither a connection nor a resolver. */
  checkAddress(url: string): void
  /**
   * Call before a camera connects to a URL or with a login chosen by its account. Throws 'rate_limited' after too many.
   */
  countTry(userId: number): Promise<void>
  /** Call before what follows. Throws 'forbidden' for guests who only watch: it reaches into the server's network. */
  checkMayAdd(userId: number): Promise<void>
  /** Throws 'rate_limited' and 'unavailable' if too many tests are running. */
  detect(source: CameraSource, requester: Requester): Promise<Detection>
  /** Undefined if unknown at the moment. */
  findType(source: CameraSource, requester: Requester): Promise<VideoCodec | undefined>
  /** Throw like `detect`. */
  discover(requester: Requester): Promise<readonly DiscoveredDevice[]>
  readDevice(source: CameraSource, requester: Requester): Promise<OnvifDevice>
}

export type Requester = { readonly userId: number; readonly signal: AbortSignal }

export type Detection = {
  readonly stream: DetectedStream
  /** Undefined if there was no frame or it could not be decoded. */
  readonly snapshot: { readonly jpeg: Uint8Array; readonly width: number; readonly height: number } | undefined
}

/** What only the server that has the cameras can answer with. */
export type MediaDeps = {
  readonly live: Live
  readonly recorded: Recorded
  readonly recordedImages: RecordedImageSource
  /** A recording in a place of this server, for other servers. Throws 'not_found' and 'unavailable'. */
  readonly openFile?: (file: FileLocation) => Promise<FootageFile>
  readonly storage: StorageSource
  /** Progress of repairing files that were left open. */
  readonly repair: () => RepairProgress
  readonly figures: FigureSource
  readonly report: () => ServerReport
  /** Sends at once. Throws 'invalid' and 'unavailable' with the reason. */
  readonly sendTestMail: (to: string) => Promise<void>
  readonly snapshots: Snapshots
  readonly detector: Detector
  /** Maximum number of cameras per user, except for owners of the server; undefined for no limit. */
  readonly cameraLimit?: number | undefined
}

/** The other servers of the database. */
export type PeerDeps = {
  readonly ownName: string
  /** Another server that is alive and can be asked. */
  find(name: string): Peer | undefined
  /** The name in the URLs of live video: of the server that has the camera. Undefined if others cannot ask that. */
  findServerName(cameraId: number): string | undefined
  /**
   * The server that has the camera; 'this' also for a camera that none has ever had. Undefined while no living server has
   * it.
   */
  findOwner(cameraId: number): Peer | 'this' | undefined
  /** All, this one too, and those that are gone for a day. */
  list(): Promise<readonly ListedNode[]>
  /** What each other server that is alive answers to GET /metrics. */
  readMetrics(): Promise<readonly ServerMetrics[]>
  /**
   * Answers a request with what another server answers: by default the one that has the camera in its path, or one that
   * has cameras. Throws 'unavailable' while that does not.
   */
  forward(request: FastifyRequest, reply: FastifyReply, server?: Peer): Promise<void>
  /**
   * Call it when images of a camera begin to be sent, which this server has now. The result, if any, is to be called when
   * they end: it goes on with those of the server that has the camera then, until the client leaves or nobody has it.
   */
  follow(request: FastifyRequest, response: ServerResponse, cameraId: number): (() => Promise<void>) | undefined
}

/** What a server without cameras can answer with. */
export type AnsweringDeps = {
  readonly recorded: Recorded
  /** Whether this server can read all footage of the range, to which nothing will be added. */
  canPlay(cameraId: number, startMs: number, endMs: number): Promise<boolean>
}

/** A server either has the cameras, or hands on what needs them. */
export type ApiDeps = CommonDeps &
  ((MediaDeps & { readonly peers?: PeerDeps | undefined }) | (AnsweringDeps & { readonly peers: PeerDeps }))

/** Of every server. */
export type CommonDeps = CredentialParts & {
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
    | 'accessVersion'
    | 'check'
  >
  readonly access: CameraAccess
  readonly authenticator: Pick<Authenticator, 'authenticate' | 'findKnown' | 'isLive'>
  readonly oauth: Pick<OAuth, 'tokens' | 'grants'>
  readonly sessions: Pick<Sessions, 'list' | 'revoke' | 'findOf'>
  /** Identity providers that users sign in with. */
  readonly providers: Pick<ProviderService, 'providers' | 'list' | 'unlink'>
  readonly accounts: Pick<Accounts, 'signUps' | 'selfService' | 'administration' | 'guests' | 'notices'>
  readonly audit: Pick<Audit, 'write'>
  readonly mediaTokens: Pick<MediaTokens, 'sign' | 'verify' | 'nextExpiryMs'>
  readonly clock: Clock
  readonly log: Logger
  /** Public URL of the server: the origin of every link, never taken from a request's Host header. */
  readonly publicUrl: string
  /** Undefined for plain HTTP behind a proxy; see `origin`. */
  readonly identity: (Identity & { readonly authority?: OwnAuthority | undefined }) | undefined
  /** Which proxies to trust, and the names of this server besides that in `publicUrl`. */
  readonly origin: Pick<OriginOptions, 'proxies' | 'hosts'>
  readonly limits: RateLimits
  /** Default: none. */
  readonly pages?: PagesDeps
  /** Folder of the built dashboard; without it, the account page is the start page. */
  readonly dashboard?: string
  readonly timeouts?: Timeouts
  readonly clientLimits: ClientLimits
  /** Measurements of the other parts, for /metrics. */
  readonly measure?: () => readonly Measurement[]
}
