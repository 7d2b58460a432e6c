// Keeps emails in the database until they are sent, so that a server that was killed sends them after its next start. They
// are sealed (AES-256-GCM), because they contain one-time links.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { SealedBox } from '../base/sealed-box.ts'
import type { Mail } from '../model/mail.ts'
import type { WaitingMails } from '../store/server/waiting-mails.ts'

/** By then, the links in all emails have expired. */
export const maxMailAgeMs = 7 * 86_400_000
const context = 'mail'

export type KeptMailsOptions = {
  readonly rows: WaitingMails
  /** The incarnation of this server, where others send emails too. */
  readonly sender?: string | undefined
  /** 32 bytes, used for nothing else. */
  readonly key: Uint8Array
  readonly clock: Pick<Clock, 'nowMs'>
  /** The time that decides which emails are removed; by default that of the clock. */
  readonly deletionMs?: () => number
  readonly log: Logger
}

/** `sinceMs`: when it was first to be sent, Unix milliseconds. */
export type KeptMail = { readonly id: number; readonly mail: Mail; readonly sinceMs: number }

export class KeptMails {
  readonly #options: KeptMailsOptions
  readonly #box: SealedBox

  constructor(options: KeptMailsOptions) {
    this.#options = options
    this.#box = new SealedBox(options.key)
  }

  /** Returns the id. Throws like the store. */
  keep(mail: Mail, sinceMs: number): Promise<number> {
    const { rows, sender } = this.#options
    return rows.insert(this.#box.seal(JSON.stringify(mail), context), sinceMs, sender)
  }

  /** Returns the emails that are still useful and removes those that no longer are. Unreadable ones are logged and stay. */
  async list(): Promise<KeptMail[]> {
    const { rows, sender, clock, deletionMs = () => clock.nowMs(), log } = this.#options
    const kept: KeptMail[] = []
    for (const { id, sealed, sinceMs } of await rows.list(sender)) {
      try {
        const mail = JSON.parse(this.#box.unseal(sealed, context)) as Mail
        const usefulMs = mail.usefulMs ?? maxMailAgeMs
        if (clock.nowMs() - sinceMs < usefulMs) kept.push({ id, mail, sinceMs })
        else if (deletionMs() - sinceMs >= usefulMs) await this.remove(id)
      } catch (error) {
        log.warn({ id, reason: errorChain(error) }, 'a waiting email cannot be read')
      }
    }
    return kept
  }

  remove(id: number): Promise<void> {
    return this.#options.rows.remove(id)
  }
}
