// Work of which little is done at a time and the rest waits in order, because each piece takes memory or the disk.

import { AppError } from '../base/error.ts'

export type FewAtOnceOptions = {
  readonly atOnce: number
  readonly maxWaiting: number
  /** What whoever comes when so many wait is told. */
  readonly refusal: string
}

export class FewAtOnce {
  readonly #options: FewAtOnceOptions
  readonly #waiting: (() => void)[] = []
  #working = 0

  constructor(options: FewAtOnceOptions) {
    this.#options = options
  }

  /** What `work` gives, when its turn has come. Throws 'unavailable' when too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { atOnce, maxWaiting, refusal } = this.#options
    if (this.#working >= atOnce) {
      if (this.#waiting.length >= maxWaiting) throw new AppError('unavailable', refusal)
      // Whoever is done hands its turn on.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#working++
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#working--
    }
  }
}
