// Emails owners when one of their cameras goes offline or its recording fails: once per outage, and in one email for
// cameras that fail together. Callers never wait.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { Mail } from '../model/mail.ts'
import { quoteName } from '../model/quoted-name.ts'
import type { CameraStatus } from '../store/cameras/cameras.ts'
import type { Store } from '../store/store.ts'

export type OutageMailsOptions = {
  readonly store: Pick<Store, 'cameras' | 'recordings' | 'users'>
  readonly mailer: { send(mail: Mail): Promise<void> }
  /** Without a trailing slash. */
  readonly publicUrl: string
  readonly clock: Clock
  readonly log: Logger
}

export type OutageKind = 'offline' | 'recording'

/** `detail`: a sentence for the owner, without secrets. */
export type OutageNotice = { readonly sinceMs: number; readonly detail: string | undefined }

type Waiting = OutageNotice & {
  readonly cameraId: number
  readonly kind: OutageKind
  readonly noticedMs: number
  /** Another server has the camera by now, and sees the end. */
  isElsewhere?: boolean
}

/** After the first outage, others are waited for, and an outage that ends meanwhile is not mailed. */
const gatherMs = 60_000
/** An owner gets at most one email in this time. Outages that begin meanwhile are in the next one if they last. */
const pauseMs = 15 * 60_000
/** A longer list helps nobody. */
const maxListed = 50

export class OutageMails {
  readonly #options: OutageMailsOptions
  readonly #waiting = new Map<string, Waiting>()
  /** When each owner was mailed last, monotonic; those within `pauseMs`. */
  readonly #mailedMs = new Map<number, number>()
  #isSending = false

  constructor(options: OutageMailsOptions) {
    this.#options = options
  }

  begin(cameraId: number, kind: OutageKind, notice: OutageNotice): void {
    const noticedMs = this.#options.clock.monotonicMs()
    this.#waiting.set(`${cameraId} ${kind}`, { ...notice, cameraId, kind, noticedMs })
  }

  end(cameraId: number, kind: OutageKind): void {
    this.#waiting.delete(`${cameraId} ${kind}`)
  }

  /** Another server has the camera from now on. */
  release(cameraId: number): void {
    for (const outage of this.#waiting.values()) if (outage.cameraId === cameraId) outage.isElsewhere = true
  }

  /** Sends what is due. Call every second. */
  look(): void {
    const nowMs = this.#options.clock.monotonicMs()
    for (const [owner, mailedMs] of this.#mailedMs) if (nowMs - mailedMs >= pauseMs) this.#mailedMs.delete(owner)
    const isDue = this.#waiting.values().some(({ noticedMs }) => nowMs - noticedMs >= gatherMs)
    if (!isDue || this.#isSending) return
    this.#isSending = true
    this.#send(nowMs)
      .catch((error) => {
        this.#options.log.warn({ error: errorChain(error) }, 'emails about outages cannot be sent at the moment')
      })
      .finally(() => {
        this.#isSending = false
      })
  }

  async #isOver({ cameraId, kind }: Waiting, status: CameraStatus): Promise<boolean> {
    if (kind === 'offline') return status === 'online'
    return (await this.#options.store.recordings.find(cameraId))?.status === 'RECORDING'
  }

  async #send(nowMs: number): Promise<void> {
    const { store, mailer, publicUrl } = this.#options
    const byOwner = new Map<number, Named[]>()
    for (const [key, outage] of this.#waiting) {
      const camera = await store.cameras.find(outage.cameraId)
      if (!camera || (outage.isElsewhere && (await this.#isOver(outage, camera.status)))) this.#waiting.delete(key)
      else byOwner.set(camera.ownerId, [...(byOwner.get(camera.ownerId) ?? []), { name: camera.name, outage }])
    }
    for (const [ownerId, outages] of byOwner) {
      const isDue = outages.some(({ outage }) => nowMs - outage.noticedMs >= gatherMs)
      if (!isDue || this.#mailedMs.has(ownerId)) continue
      const user = await store.users.find(ownerId)
      // An outage that ended while the database was asked is not mailed.
      const lasting = outages.filter(({ outage: { cameraId, kind } }) => this.#waiting.delete(`${cameraId} ${kind}`))
      if (!user?.getsOutageMails || user.disabledAtMs !== null || lasting.length === 0) continue
      this.#mailedMs.set(ownerId, nowMs)
      await mailer.send({ to: user.email, ...writeOutageMail(lasting, publicUrl) })
    }
  }
}

type Named = { readonly name: string; readonly outage: Waiting }

const sentences = { offline: 'has been offline', recording: 'has not been recorded' }

function writeOutageMail(outages: readonly Named[], publicUrl: string): Pick<Mail, 'subject' | 'text'> {
  const [first] = outages
  const alone = first?.outage.kind === 'offline' ? 'A camera is offline' : 'A camera is not being recorded'
  const lines = outages.slice(0, maxListed).map(({ name, outage: { kind, sinceMs, detail } }) => {
    const time = `${new Date(sinceMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
    const camera = quoteName(name)
    const subject = camera === undefined ? 'A camera' : `The camera ${camera}`
    return `${subject} ${sentences[kind]} since ${time}.${detail === undefined ? '' : ` ${detail}`}`
  })
  const rest = outages.length - lines.length
  const cameras = new Set(outages.map(({ outage }) => outage.cameraId)).size
  return {
    subject: cameras === 1 ? alone : `${cameras} cameras need attention`,
    text: `${lines.join('\n\n')}${rest > 0 ? `\n\nand ${rest} more.` : ''}

See your cameras:

${publicUrl}/

You get one email per outage. You can turn these emails off in your profile:

${publicUrl}/settings/profile
`,
  }
}
