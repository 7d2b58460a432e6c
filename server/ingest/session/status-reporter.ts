// Decides which changes of a camera's state are reported, and when. A loss that the next attempt repairs is not
// reported.

import type { ProblemCode } from '../../../contract/camera-problem.ts'
import type { GapReason } from '../../../contract/gap-reasons.ts'
import type { Clock } from '../../base/clock.ts'
import { errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { Timer } from '../../base/timer.ts'
import type { StreamFormat } from '../../media/frame.ts'
import type { CameraError } from '../network/camera-error.ts'
import { usefulMs } from './reconnect-pause.ts'

export type SessionStatus =
  | { readonly state: 'connecting' }
  | { readonly state: 'online'; readonly format: StreamFormat }
  /** `detail` is one readable sentence for the owner, without secrets. It stays until the camera is online again. */
  | {
      readonly state: 'offline'
      readonly reason: GapReason
      readonly problem: ProblemCode
      readonly detail: string
    }

export type StatusReporterOptions = {
  onStatus(status: SessionStatus): void
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/** The fixed delay after which a hidden problem is reported. The real delay would reveal the cause. */
const hiddenMs = 10_000

/** The loss of a longer session is reported after this time, unless the camera is back: it is reconnected at once. */
const patienceMs = 5000

export class StatusReporter {
  readonly #options: StatusReporterOptions
  #reported = ''
  #isOnline = false
  #isConnected = false
  /** The wait for the next attempt after a loss. */
  readonly #waiting: Timer
  /** The wait before a hidden problem is reported. */
  readonly #hiding: Timer

  constructor(options: StatusReporterOptions) {
    this.#options = options
    this.#waiting = new Timer(options.clock, options.signal)
    this.#hiding = new Timer(options.clock, options.signal)
    options.onStatus({ state: 'connecting' })
  }

  /** A run started. Reported if the camera was not online or its format changed. */
  online(format: StreamFormat): void {
    const { onStatus, log } = this.#options
    this.#stopWaiting()
    this.#isConnected = true
    const text = describeFormat(format)
    if (this.#isOnline && text === this.#reported) return
    if (!this.#isOnline) log.info({ width: format.video.width, height: format.video.height }, 'the camera is online')
    this.#isOnline = true
    this.#reported = text
    onStatus({ state: 'online', format })
  }

  /** A session that was online has ended. */
  lost(error: CameraError, onlineMs: number): void {
    const { log } = this.#options
    this.#isConnected = false
    if (onlineMs < usefulMs) {
      this.#reportOffline(error)
      return
    }
    log.debug({ reason: error.reason, cause: errorChain(error) }, 'the connection to the camera was lost')
    this.#waiting.start(patienceMs, () => this.#reportOffline(error))
  }

  /**
   * A connection attempt starts whose exact failure must stay hidden. Whatever the failure and its time, `error` is
   * reported after the same delay if the camera is not online by then and `isHidden` still returns true.
   */
  reportHidden(error: CameraError, isHidden: () => boolean): void {
    if (this.#hiding.isRunning) return
    this.#hiding.start(hiddenMs, () => {
      if (!this.#isConnected && isHidden()) this.#reportOffline(error)
    })
  }

  /** A connection attempt failed. */
  failed(error: CameraError): void {
    this.#reportOffline(error)
  }

  #reportOffline(error: CameraError): void {
    const { onStatus, log } = this.#options
    this.#stopWaiting()
    const { reason, problem, message } = error
    const text = `${reason}: ${message}`
    const fields = { reason, cause: errorChain(error) }
    if (!this.#isOnline && text === this.#reported) {
      log.debug(fields, 'the camera is still offline')
      return
    }
    log.info(fields, 'the camera is offline')
    this.#isOnline = false
    this.#reported = text
    onStatus({ state: 'offline', reason, problem, detail: message })
  }

  #stopWaiting(): void {
    this.#waiting.stop()
    this.#hiding.stop()
  }
}

function describeFormat({ video, audio }: StreamFormat): string {
  const { codec, width, height, codecString } = video
  const audioFields = audio ? [audio.codec, audio.sampleRate, audio.channels, audio.codecString] : []
  return [codec, width, height, codecString, ...audioFields].join(' ')
}
