// Reads by ONVIF what a camera is, which profiles it has and where their streams are. The time is limited, and what is
// known by then is returned.

import type { ProblemCode } from '../../../contract/camera-problem.ts'
import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { Timer } from '../../base/timer.ts'
import { parseCameraUrl } from '../../model/camera-url.ts'
import type { AddressGuard } from '../network/address-guard.ts'
import { CameraError, createHiddenError, isAboutAddress, toCameraError } from '../network/camera-error.ts'
import { parseCameraUrl as parseTarget } from '../network/camera-url.ts'
import { OnvifClient } from './onvif-client.ts'
import { cleanText, type MediaService, mediaServices, type OnvifProfile } from './onvif-profiles.ts'
import { findChild, findText, listChildren, type XmlElement } from './xml.ts'

export type OnvifTarget = {
  /** URL of the device service, http:// or https://, without user information. */
  readonly url: string
  readonly username: string | undefined
  readonly password: string | undefined
  /** See `DetectionTarget`. */
  readonly canSeeProblems: boolean
}

export type OnvifDevice = {
  readonly device: DeviceInformation | undefined
  readonly profiles: readonly FoundProfile[]
  /** Why the result is incomplete; undefined if it is complete. */
  readonly problem: { readonly code: ProblemCode; readonly detail: string } | undefined
}

export type DeviceInformation = {
  readonly manufacturer: string | undefined
  readonly model: string | undefined
  readonly firmwareVersion: string | undefined
}

export type FoundProfile = OnvifProfile & {
  /** URL of its stream without user information; undefined if the camera did not send it or it is not allowed. */
  readonly url: string | undefined
  /** URL of a single image, likewise. */
  readonly snapshotUrl: string | undefined
  /** Why `url` is undefined. */
  readonly urlProblem: string | undefined
}

export type ReadDeviceOptions = {
  readonly target: OnvifTarget
  readonly clock: Clock
  readonly log: Logger
  readonly addressGuard: AddressGuard
  readonly signal: AbortSignal
  readonly totalMs?: number
  readonly responseMs?: number
}

const defaultTotalMs = 12_000
const defaultResponseMs = 5000
/** How long the reading may take to end after its time is over. */
const leaveMs = 500

/** Rejects only with the signal's reason, when it aborts. */
export async function readOnvifDevice(options: ReadDeviceOptions): Promise<OnvifDevice> {
  const { target, clock, log, signal, addressGuard } = options
  const { totalMs = defaultTotalMs, responseMs = defaultResponseMs } = options
  const startedMs = clock.monotonicMs()
  const done = new AbortController()
  const ended = AbortSignal.any([signal, done.signal])
  let isLate = false
  new Timer(clock, ended).start(totalMs, () => {
    isLate = true
    done.abort()
  })
  const { username, password = '' } = target
  const credentials = username ? { username, password } : undefined
  using client = new OnvifClient({ addressGuard, credentials, clock, responseMs, signal: ended })
  const reading = new DeviceReading(client, target.url, clock)
  try {
    await reading.run()
    return reading.result(undefined)
  } catch (thrown) {
    signal.throwIfAborted()
    const error = isLate ? describeLate(totalMs) : toCameraError(thrown)
    log.debug({ problem: error.problem, cause: errorChain(error) }, 'an ONVIF request to a camera failed')
    if (!target.canSeeProblems && !client.isPublic && reading.isBlank && !isAboutAddress(error)) {
      done.abort()
      // The delay is always the same, because the real time would reveal the cause.
      await clock.sleep(Math.max(0, startedMs + totalMs + leaveMs - clock.monotonicMs()), signal)
      const { problem, message } = createHiddenError()
      return reading.result({ code: problem, detail: message })
    }
    return reading.result({ code: error.problem, detail: error.message })
  } finally {
    done.abort()
  }
}

class DeviceReading {
  readonly #client: OnvifClient
  readonly #url: string
  readonly #clock: Clock
  #device: DeviceInformation | undefined
  #profiles: FoundProfile[] = []

  constructor(client: OnvifClient, url: string, clock: Clock) {
    this.#client = client
    this.#url = url
    this.#clock = clock
  }

  /** True if the device has sent no information. */
  get isBlank(): boolean {
    return this.#device === undefined && this.#profiles.length === 0
  }

  result(problem: OnvifDevice['problem']): OnvifDevice {
    return { device: this.#device, profiles: this.#profiles, problem }
  }

  async run(): Promise<void> {
    await this.#setClock()
    const information = await this.#client.call(this.#url, '<tds:GetDeviceInformation/>')
    this.#device = {
      manufacturer: cleanText(findText(information, 'Manufacturer')),
      model: cleanText(findText(information, 'Model')),
      firmwareVersion: cleanText(findText(information, 'FirmwareVersion')),
    }
    const urls = await this.#findServices()
    const { service, url, profiles } = await this.#listProfiles(urls)
    this.#profiles = profiles.map((profile) => ({
      ...profile,
      url: undefined,
      snapshotUrl: undefined,
      urlProblem: 'There was no time to request the URL of this stream.',
    }))
    for (const [index, profile] of profiles.entries()) {
      this.#profiles[index] = { ...profile, ...(await this.#findUrls(service, url, profile)) }
    }
  }

  /**
   * Reads the camera's time, because cameras with a wrong clock refuse a login that is stamped with the correct time.
   * The request needs no login, but some cameras refuse it.
   */
  async #setClock(): Promise<void> {
    const request = this.#client.call(this.#url, '<tds:GetSystemDateAndTime/>', { isPublic: true })
    const response = await optional(request).catch((error: unknown) => {
      // A fault means that the login inside the message is missing. An HTTP login was sent and must not be repeated.
      if (error instanceof CameraError && error.reason === 'auth_failed' && error.status === undefined) return undefined
      throw error
    })
    const utc = findChild(response, 'SystemDateAndTime', 'UTCDateTime')
    const read = (...path: string[]) => Number(findText(utc, ...path) ?? Number.NaN)
    const cameraMs = Date.UTC(
      read('Date', 'Year'),
      read('Date', 'Month') - 1,
      read('Date', 'Day'),
      read('Time', 'Hour'),
      read('Time', 'Minute'),
      read('Time', 'Second'),
    )
    const isSane = cameraMs > 0 && cameraMs < farFutureMs
    if (isSane) this.#client.clockOffsetMs = cameraMs - this.#clock.nowMs()
  }

  /** Finds the URLs of the services by their namespace. */
  async #findServices(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    const note = (namespace: string | undefined, address: string | undefined) => {
      if (namespace && address && !found.has(namespace)) found.set(namespace, this.#atDevice(address))
    }
    const getServices = '<tds:GetServices><tds:IncludeCapability>false</tds:IncludeCapability></tds:GetServices>'
    const services = await optional(this.#client.call(this.#url, getServices))
    for (const service of listChildren(services, 'Service')) {
      note(findText(service, 'Namespace'), findText(service, 'XAddr'))
    }
    const [, media1] = mediaServices
    if (found.has(media1!.namespace)) return found
    // Older cameras do not support GetServices.
    const body = '<tds:GetCapabilities><tds:Category>All</tds:Category></tds:GetCapabilities>'
    const capabilities = await optional(this.#client.call(this.#url, body))
    note(media1!.namespace, findText(capabilities, 'Capabilities', 'Media', 'XAddr'))
    return found
  }

  /**
   * Combines the path of a service URL with the scheme, host and port of the device URL. Behind a router, the camera
   * sends an IP address of its own network. The login, which is part of every request, must not be sent to another
   * host.
   */
  #atDevice(serviceUrl: string): string {
    const url = URL.parse(serviceUrl)
    return url ? `${new URL(this.#url).origin}${url.pathname}${url.search}` : this.#url
  }

  async #listProfiles(
    urls: ReadonlyMap<string, string>,
  ): Promise<{ service: MediaService; url: string; profiles: OnvifProfile[] }> {
    let failure: unknown
    for (const service of mediaServices) {
      const url = urls.get(service.namespace)
      if (url === undefined) continue
      try {
        const profiles = service.readProfiles(await this.#client.call(url, service.listProfiles))
        if (profiles.length > 0) return { service, url, profiles }
      } catch (error) {
        if (!(error instanceof CameraError) || error.reason === 'auth_failed') throw error
        failure = error
      }
    }
    if (failure !== undefined) throw failure
    const detail = 'The camera has no profile with video: create one on the web page of the camera.'
    throw new CameraError('no_frames', detail, { problem: 'no_video' })
  }

  async #findUrls(
    service: MediaService,
    url: string,
    { token }: OnvifProfile,
  ): Promise<Pick<FoundProfile, 'url' | 'snapshotUrl' | 'urlProblem'>> {
    const stream = await optional(this.#client.call(url, service.getStreamUri(token)))
    const checked = await this.#check(stream)
    const snapshot = await this.#check(await optional(this.#client.call(url, service.getSnapshotUri(token))))
    return {
      url: checked?.url,
      urlProblem: checked ? checked.problem : 'The camera did not send the URL of this stream.',
      snapshotUrl: snapshot?.url,
    }
  }

  /** Checks that the stream URL that a camera sent is allowed. */
  async #check(response: XmlElement | undefined): Promise<{ url?: string; problem?: string } | undefined> {
    const uri = findText(response, 'Uri') ?? findText(response, 'MediaUri', 'Uri')
    if (uri === undefined) return undefined
    try {
      const { url } = parseCameraUrl(uri)
      await this.#client.resolve(parseTarget(url))
      return { url }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { problem: toCameraError(error).message }
    }
  }
}

const farFutureMs = Date.UTC(2200, 0)

/** Returns undefined if the camera does not know or refuses the request. Every other error ends the reading. */
async function optional(response: Promise<XmlElement>): Promise<XmlElement | undefined> {
  try {
    return await response
  } catch (error) {
    const isRefused = error instanceof CameraError && (error.problem === 'failed' || error.problem === 'not_a_camera')
    if (isRefused && error.reason === 'no_frames') return undefined
    throw error
  }
}

function describeLate(totalMs: number): CameraError {
  const detail = `The camera did not answer all requests within ${totalMs / 1000} s.`
  return new CameraError('camera_unreachable', detail, { problem: 'timed_out' })
}
