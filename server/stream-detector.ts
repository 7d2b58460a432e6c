// Tests camera URLs and discovers cameras for the API. It asks a media worker, decodes an image, and limits the number
// of tests, because every test connects to a host that a user chooses.

import type { CameraSource } from './api/camera-source.ts'
import type { Detection, Detector, Requester } from './api/deps.ts'
import type { Clock } from './base/clock.ts'
import { AppError, errorChain } from './base/error.ts'
import type { Logger } from './base/log.ts'
import { RateLimiter } from './base/rate-limiter.ts'
import type { AnswerTo, Question } from './cameras/worker-protocol.ts'
import type { ImageRequest } from './decoder/decoder.ts'
import type { DetectedStream, DetectionTarget } from './ingest/detection/detect-stream.ts'
import type { AddressCheck } from './ingest/network/address-guard.ts'
import { toCameraError } from './ingest/network/camera-error.ts'
import { parseCameraUrl } from './ingest/network/camera-url.ts'
import type { DiscoveredDevice } from './ingest/onvif/discover-devices.ts'
import type { OnvifDevice } from './ingest/onvif/read-device.ts'
import type { VideoCodec } from './media/frame.ts'
import { fitImage } from './media/image-size.ts'

export type StreamDetectorOptions = {
  readonly workers: { ask<Q extends Question>(question: Q, signal: AbortSignal): Promise<AnswerTo<Q>> }
  readonly addressCheck: AddressCheck
  readonly decoder: { decode(request: ImageRequest): Promise<Uint8Array[]> }
  /** Owners of the server get all details and may test any number of URLs. */
  readonly isOwner: (userId: number) => Promise<boolean>
  /** Whether the user may add cameras. */
  readonly mayAdd: (userId: number) => Promise<boolean>
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<DetectorLimits>
}

export type DetectorLimits = {
  /** Number of concurrent tests. */
  readonly perUser: number
  readonly inAll: number
  readonly perUserAndMinute: number
}

const defaultLimits: DetectorLimits = { perUser: 2, inAll: 8, perUserAndMinute: 30 }

const snapshotLimits = { maxWidth: 640, maxHeight: 480 }

/** An image of an MJPEG camera that has the right size may be returned unchanged, whatever its quality. */
const maxSnapshotBytes = 1024 * 1024

export class StreamDetector implements Detector {
  readonly #options: StreamDetectorOptions
  readonly #limits: DetectorLimits
  readonly #rate: RateLimiter<number>
  readonly #running = new Map<number, number>()
  #inAll = 0

  constructor(options: StreamDetectorOptions) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#rate = new RateLimiter({ limit: this.#limits.perUserAndMinute, clock: options.clock })
  }

  checkAddress(url: string): void {
    const { host, port } = parseCameraUrl(url)
    try {
      this.#options.addressCheck.check(host, port)
    } catch (cause) {
      // The message is the same as in the status of such a camera.
      const { message } = toCameraError(cause)
      throw new AppError('invalid', message, { fields: { url: [message] }, cause })
    }
  }

  /** Throws 'forbidden' for guests who only watch: a test reaches into the network of the server. */
  async checkMayAdd(userId: number): Promise<void> {
    if (!(await this.#options.mayAdd(userId))) throw new AppError('forbidden', 'guests watch and add no cameras')
  }

  /**
   * Counts that an account connects a camera to a URL or with a login of its choice. This counts like a test, because
   * the camera's status reveals the result. Throws 'rate_limited' after too many of either kind.
   */
  async countTry(userId: number): Promise<void> {
    if (!(await this.#options.isOwner(userId))) this.#rate.take(userId)
  }

  /**
   * Tests a URL, or finds the stream of a host: measurements and an image. Throws 'invalid' naming `url` if someone
   * else than an owner of the server gives only a host, because many of its paths would be tried; throws 'rate_limited' if the user runs too many tests, 'unavailable' if all
   * users together do, and the signal's reason if it aborts.
   */
  async detect(source: CameraSource, requester: Requester): Promise<Detection> {
    if (source.isHostAlone && !(await this.#options.isOwner(requester.userId))) {
      const message =
        'Enter the whole URL, as rtsp://192.168.1.20/stream1: only owners of the server let it search a host.'
      throw new AppError('invalid', message, { fields: { url: [message] } })
    }
    using _ = this.#enter(requester.userId)
    this.#rate.take(requester.userId)
    const stream = await this.#detectStream(source, 'stream', requester)
    return { stream, snapshot: await this.#takeSnapshot(stream, requester) }
  }

  /** Undefined if unknown at the moment: the camera is offline, or too many tests are running. */
  async findType(source: CameraSource, requester: Requester): Promise<VideoCodec | undefined> {
    try {
      using _ = this.#enter(requester.userId)
      return (await this.#detectStream(source, 'type', requester)).video?.codec
    } catch (error) {
      requester.signal.throwIfAborted()
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  /** For owners of the server, because the devices are those of its network. Throws 'forbidden' for others. */
  async discover({ userId, signal }: Requester): Promise<readonly DiscoveredDevice[]> {
    if (!(await this.#options.isOwner(userId)))
      throw new AppError('forbidden', 'only owners of the server search its network')
    using _ = this.#enter(userId)
    this.#rate.take(userId)
    return (await this.#options.workers.ask({ kind: 'onvif_devices', account: userId }, signal)).devices
  }

  async readDevice({ url, username, password }: CameraSource, { userId, signal }: Requester): Promise<OnvifDevice> {
    using _ = this.#enter(userId)
    this.#rate.take(userId)
    const canSeeProblems = await this.#options.isOwner(userId)
    const target = { url, username: username ?? undefined, password: password ?? undefined, canSeeProblems }
    return (await this.#options.workers.ask({ kind: 'onvif_device', account: userId, target }, signal)).device
  }

  async #detectStream(source: CameraSource, depth: DetectionTarget['depth'], { userId, signal }: Requester) {
    const target = toTarget(source, depth, await this.#options.isOwner(userId))
    return (await this.#options.workers.ask({ kind: 'stream', account: userId, target }, signal)).stream
  }

  #enter(userId: number): Disposable {
    const mine = this.#running.get(userId) ?? 0
    if (mine >= this.#limits.perUser) {
      throw new AppError('rate_limited', `more than ${this.#limits.perUser} connection tests at the same time`, {
        retryAfterSeconds: 5,
      })
    }
    if (this.#inAll >= this.#limits.inAll)
      throw new AppError('unavailable', 'too many connection tests are running', { retryAfterSeconds: 5 })
    this.#running.set(userId, mine + 1)
    this.#inAll++
    return {
      [Symbol.dispose]: () => {
        this.#inAll--
        const left = this.#running.get(userId)! - 1
        if (left > 0) this.#running.set(userId, left)
        else this.#running.delete(userId)
      },
    }
  }

  async #takeSnapshot({ video }: DetectedStream, { userId }: Requester): Promise<Detection['snapshot']> {
    const { decoder, log } = this.#options
    const keyFrame = video?.keyFrame
    if (!keyFrame) return undefined
    const { codec } = video
    const { config, data } = keyFrame
    try {
      // An image that crashes the decoder counts against the user who requested it.
      const [source, viewers] = [`detection for ${userId}`, new Set([userId])]
      const [jpeg] = await decoder.decode({ codec, config, data, sizes: [snapshotLimits], source, viewers })
      return jpeg && jpeg.length <= maxSnapshotBytes ? { jpeg, ...fitImage(keyFrame, snapshotLimits) } : undefined
    } catch (error) {
      log.info({ cause: errorChain(error) }, 'no image could be decoded from a tested stream')
      return undefined
    }
  }
}

function toTarget(
  { url, username, password, isHostAlone }: CameraSource,
  depth: DetectionTarget['depth'],
  canSeeProblems: boolean,
): DetectionTarget {
  return {
    url,
    username: username ?? undefined,
    password: password ?? undefined,
    depth,
    canSeeProblems,
    ...(isHostAlone && { isHostAlone }),
  }
}
