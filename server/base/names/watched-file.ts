// A small system file that is read again when it changes.

import { readFile, stat } from 'node:fs/promises'
import type { Clock } from '../clock.ts'
import { SingleFlight } from '../single-flight.ts'

const lookIntervalMs = 2000
const maxBytes = 16 * 1024 * 1024

export class WatchedFile<T> {
  readonly #path: string
  readonly #parse: (text: string) => T
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #lookedMs = Number.NEGATIVE_INFINITY
  #stamp = ''
  #value: T
  readonly #looking = new SingleFlight<void>()

  constructor(path: string, parse: (text: string) => T, clock: Pick<Clock, 'monotonicMs'>) {
    this.#path = path
    this.#parse = parse
    this.#clock = clock
    this.#value = parse('')
  }

  /** A missing or unreadable file counts as empty. */
  async read(): Promise<T> {
    if (this.#clock.monotonicMs() - this.#lookedMs >= lookIntervalMs) {
      await this.#looking.run(() => this.#look())
    }
    return this.#value
  }

  async #look(): Promise<void> {
    const found = await stat(this.#path, { bigint: true }).catch(() => undefined)
    const stamp = found ? `${found.mtimeNs} ${found.size} ${found.ino}` : ''
    if (stamp !== this.#stamp) {
      const isReadable = found?.isFile() && found.size <= maxBytes
      const text = isReadable ? await readFile(this.#path, 'utf8').catch(() => '') : ''
      this.#value = this.#parse(text)
      this.#stamp = stamp
    }
    this.#lookedMs = this.#clock.monotonicMs()
  }
}
