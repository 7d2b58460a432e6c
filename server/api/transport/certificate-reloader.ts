// Looks after the certificate while the server runs: files that were replaced are shown from then on, one of our own that
// is about to expire is made anew. What cannot be used is refused, and the one before goes on being shown.

import { X509Certificate } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { AppError, errorChain } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { repeat } from '../../base/repeat.ts'
import type { OwnIdentity } from './certificate.ts'

const dayMs = 86_400_000
const warnBeforeMs = 7 * dayMs

export type CertificateReloaderOptions = {
  /** What is shown now. */
  readonly identity: OwnIdentity
  /** What should be: from the operator's files, or our own, renewed if need be. */
  readonly read: () => Promise<OwnIdentity>
  /** New connections are to see this one. */
  readonly show: (identity: OwnIdentity) => void
  readonly intervalMs: number
  readonly clock: Clock
  readonly log: Logger
}

export class CertificateReloader {
  readonly #options: CertificateReloaderOptions
  #identity: OwnIdentity
  /** What was said last, so that it is not said again every few seconds. */
  #lastError: string | undefined
  #warnedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: CertificateReloaderOptions) {
    this.#options = options
    this.#identity = options.identity
  }

  get identity(): OwnIdentity {
    return this.#identity
  }

  /** Ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs } = this.#options
    await repeat(() => this.look(), { clock, signal, intervalMs })
  }

  /** Once. Never rejects. */
  async look(): Promise<void> {
    const { read, show, log } = this.#options
    try {
      const found = await read()
      if (found.cert !== this.#identity.cert || found.key !== this.#identity.key) {
        this.#checkTime(found)
        show(found)
        this.#identity = found
        log.info({ file: found.certFile, fingerprint: found.fingerprint }, 'the certificate was replaced')
      }
      this.#lastError = undefined
    } catch (error) {
      const reason = errorChain(error)
      if (reason !== this.#lastError)
        log.error({ reason }, 'the new certificate cannot be used; the previous one stays in use')
      this.#lastError = reason
    }
    this.#warnOfEnd()
  }

  #checkTime({ cert, certFile, authority }: OwnIdentity): void {
    const { validFromDate, validToDate } = new X509Certificate(cert)
    const isOwn = authority !== undefined
    const nowMs = this.#options.clock.nowMs()
    if (nowMs >= validToDate.getTime()) {
      throw new AppError('invalid', `the certificate ${certFile} expired on ${validToDate.toISOString()}`)
    }
    // One of our own is made for what the clock says, which may have been set since.
    if (nowMs < validFromDate.getTime() && !isOwn) {
      throw new AppError('invalid', `the certificate ${certFile} is not valid before ${validFromDate.toISOString()}`)
    }
  }

  /** Once a day, in the last week and afterwards. */
  #warnOfEnd(): void {
    const { clock, log } = this.#options
    const { cert, certFile: file } = this.#identity
    const end = new X509Certificate(cert).validToDate
    const nowMs = clock.nowMs()
    if (nowMs < end.getTime() - warnBeforeMs || nowMs < this.#warnedAtMs + dayMs) return
    this.#warnedAtMs = nowMs
    log.warn({ file, ends: end.toISOString() }, 'the certificate expires soon or has expired; replace it')
  }
}
