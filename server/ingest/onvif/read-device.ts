// Asks a camera by ONVIF what it is, which profiles it has and where their streams are. Bounded in time: what is known
// by then is told.

import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { Timer } from '../../base/timer.ts'
import { parseCameraUrl } from '../../model/camera-url.ts'
import type { AddressGuard } from '../network/address-guard.ts'
import { CameraError, type CameraTrouble, hideTrouble, isAboutAddress, toCameraError } from '../network/camera-error.ts'
import { parseCameraUrl as parseTarget } from '../network/camera-url.ts'
import { OnvifClient } from './onvif-client.ts'
import { cleanText, type MediaService, mediaServices, type OnvifProfile } from './onvif-profiles.ts'
import { findChild, findText, listChildren, type XmlElement } from './xml.ts'

export type OnvifTarget = {
  /** Of the device service, http:// or https://, without user information. */
  readonly url: string
  readonly username: string | undefined
  readonly password: string | undefined
  /** As of `DetectionTarget`. */
  readonly tellsAll: boolean
}

export type OnvifDevice = {
  readonly device: DeviceInformation | undefined
  readonly profiles: readonly FoundProfile[]
  /** Why that is not all; undefined when it is. */
  readonly problem: { readonly trouble: CameraTrouble; readonly detail: string } | undefined
}

export type DeviceInformation = {
  readonly manufacturer: string | undefined
  readonly model: string | undefined
  readonly firmwareVersion: string | undefined
}

export type FoundProfile = OnvifProfile & {
  /**
   * Where its stream is; undefined when the camera did not tell, or cameras may not be there. Without user information.
   */
  readonly url: string | undefined
  /** Of a single picture, likewise. */
  readonly snapshotUrl: string | undefined
  /** Why there is no `url`. */
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

const usualTotalMs = 12_000
const usualResponseMs = 5000
/** How long a reading whose time is over may take to end. */
const leaveMs = 500

/** Rejects only with the signal's reason, when it aborts. */
export async function readOnvifDevice(options: ReadDeviceOptions): Promise<OnvifDevice> {
  const { target, clock, log, signal, addressGuard } = options
  const { totalMs = usualTotalMs, responseMs = usualResponseMs } = options
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
    log.debug({ trouble: error.trouble, cause: errorChain(error) }, 'an ONVIF request to a camera failed')
    if (!target.tellsAll && !client.isPublic && reading.isBlank && !isAboutAddress(error)) {
      done.abort()
      // Always after the same time, because how long it took would tell the rest.
      await clock.sleep(Math.max(0, startedMs + totalMs + leaveMs - clock.monotonicMs()), signal)
      const { trouble, message } = hideTrouble()
      return reading.result({ trouble, detail: message })
    }
    return reading.result({ trouble: error.trouble, detail: error.message })
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

  /** The device has told nothing. */
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
      urlProblem: 'The camera was not asked in time.',
    }))
    for (const [index, profile] of profiles.entries()) {
      this.#profiles[index] = { ...profile, ...(await this.#findUrls(service, url, profile)) }
    }
  }

  /**
   * Cameras whose clock is wrong refuse a login stamped by the right one. Anyone may ask for the time; some don't let.
   */
  async #setClock(): Promise<void> {
    const asked = this.#client.call(this.#url, '<tds:GetSystemDateAndTime/>', { isPublic: true })
    const answer = await optional(asked).catch((error: unknown) => {
      // A fault says that the login inside the message is missing; by HTTP it was sent, and must not be tried again.
      if (error instanceof CameraError && error.reason === 'auth_failed' && error.status === undefined) return undefined
      throw error
    })
    const utc = findChild(answer, 'SystemDateAndTime', 'UTCDateTime')
    const read = (...path: string[]) => Number(findText(utc, ...path) ?? Number.NaN)
    const toldMs = Date.UTC(
      read('Date', 'Year'),
      read('Date', 'Month') - 1,
      read('Date', 'Day'),
      read('Time', 'Hour'),
      read('Time', 'Minute'),
      read('Time', 'Second'),
    )
    const isSane = toldMs > 0 && toldMs < farFutureMs
    if (isSane) this.#client.clockOffsetMs = toldMs - this.#clock.nowMs()
  }

  /** Addresses of services by their namespace. */
  async #findServices(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    const note = (namespace: string | undefined, address: string | undefined) => {
      if (namespace && address && !found.has(namespace)) found.set(namespace, this.#atDevice(address))
    }
    const ask = '<tds:GetServices><tds:IncludeCapability>false</tds:IncludeCapability></tds:GetServices>'
    const services = await optional(this.#client.call(this.#url, ask))
    for (const service of listChildren(services, 'Service')) {
      note(findText(service, 'Namespace'), findText(service, 'XAddr'))
    }
    const [, media1] = mediaServices
    if (found.has(media1!.namespace)) return found
    // The way of cameras from before GetServices.
    const body = '<tds:GetCapabilities><tds:Category>All</tds:Category></tds:GetCapabilities>'
    const capabilities = await optional(this.#client.call(this.#url, body))
    note(media1!.namespace, findText(capabilities, 'Capabilities', 'Media', 'XAddr'))
    return found
  }

  /**
   * The path that was told, at the scheme, host and port we were given: behind a router the camera tells an address of
   * its own network, and nobody is to be led elsewhere, least of all with the login, which goes along with every
   * request.
   */
  #atDevice(told: string): string {
    const url = URL.parse(told)
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
    const detail = 'The camera has no profile with video: make one on its own pages.'
    throw new CameraError('no_frames', detail, { trouble: 'no_video' })
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
      urlProblem: checked ? checked.problem : 'The camera did not tell where this stream is.',
      snapshotUrl: snapshot?.url,
    }
  }

  /** Where a camera says its stream is, cameras may be. */
  async #check(answer: XmlElement | undefined): Promise<{ url?: string; problem?: string } | undefined> {
    const told = findText(answer, 'Uri') ?? findText(answer, 'MediaUri', 'Uri')
    if (told === undefined) return undefined
    try {
      const { url } = parseCameraUrl(told)
      await this.#client.resolve(parseTarget(url))
      return { url }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { problem: toCameraError(error).message }
    }
  }
}

const farFutureMs = Date.UTC(2200, 0)

/** Undefined where the camera does not know or refuses what it was asked. Everything else ends the reading. */
async function optional(answer: Promise<XmlElement>): Promise<XmlElement | undefined> {
  try {
    return await answer
  } catch (error) {
    const isRefused = error instanceof CameraError && (error.trouble === 'failed' || error.trouble === 'not_a_camera')
    if (isRefused && error.reason === 'no_frames') return undefined
    throw error
  }
}

function describeLate(totalMs: number): CameraError {
  const detail = `The camera did not answer everything within ${totalMs / 1000} s.`
  return new CameraError('camera_unreachable', detail, { trouble: 'timed_out' })
}
