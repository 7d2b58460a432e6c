// Saves emails that were not sent when the server stopped, until the next start. Each is in its own file and sealed
// (AES-256-GCM), because emails contain one-time links.

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import { AppError, errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import { replaceFile } from '../base/replace-file.ts'
import { SealedBox } from '../base/sealed-box.ts'
import type { Mail } from '../model/mail.ts'

/** By then, the links in all emails have expired. */
export const maxMailAgeMs = 7 * 86_400_000
const context = 'mail'
const pattern = /^[0-9a-f]{24}\.mail$/

export type MailSpoolOptions = {
  /** Created when the first email is saved. */
  readonly dir: string
  /** 32 bytes, used for nothing else. */
  readonly key: Uint8Array
  readonly clock: Pick<Clock, 'nowMs'>
  /** The time that decides which emails are removed; by default that of the clock. */
  readonly deletionMs?: () => number
  readonly log: Logger
}

/** `sinceMs`: when it was first to be sent, Unix milliseconds. */
export type KeptMail = { readonly name: string; readonly mail: Mail; readonly sinceMs: number }

export class MailSpool {
  readonly #options: MailSpoolOptions
  readonly #box: SealedBox

  constructor(options: MailSpoolOptions) {
    this.#options = options
    this.#box = new SealedBox(options.key)
  }

  /** Resolves when the email is on disk. Throws 'unavailable'. */
  async keep(mail: Mail, sinceMs = this.#options.clock.nowMs()): Promise<void> {
    const { dir } = this.#options
    const name = `${randomBytes(12).toString('hex')}.mail`
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 })
      const sealed = this.#box.seal(JSON.stringify({ mail, keptAtMs: sinceMs }), context)
      await replaceFile(join(dir, name), sealed, 0o600)
    } catch (cause) {
      throw new AppError('unavailable', `an email could not be saved in ${dir}`, { cause })
    }
  }

  /** Returns the emails that are still useful and removes those that no longer are. Unreadable files are logged and kept. */
  async list(): Promise<KeptMail[]> {
    const { dir, clock, deletionMs = () => clock.nowMs(), log } = this.#options
    const names = await readdir(dir).catch(() => [])
    const kept: KeptMail[] = []
    for (const name of names.filter((one) => pattern.test(one))) {
      try {
        const { mail, keptAtMs } = JSON.parse(this.#box.unseal(await readFile(join(dir, name)), context))
        const usefulMs = mail.usefulMs ?? maxMailAgeMs
        if (clock.nowMs() - keptAtMs < usefulMs) kept.push({ name, mail, sinceMs: keptAtMs })
        else if (deletionMs() - keptAtMs >= usefulMs) await this.remove(name)
      } catch (error) {
        log.warn({ file: join(dir, name), reason: errorChain(error) }, 'a saved email cannot be read')
      }
    }
    return kept
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#options.dir, name), { force: true })
  }
}
