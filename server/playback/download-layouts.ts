// The layouts of the downloads used last: a client that reads in ranges asks for the same one again and again. One may have some MB, and is
// made from thousands of places on the disk, so few are made at a time.

import { AppError } from '../base/error.ts'
import type { DownloadLayout } from './download-layout.ts'

const maxLayouts = 4
const maxMaking = 2
const maxWaiting = 50

export class DownloadLayouts {
  /** Oldest use first. */
  readonly #layouts = new Map<string, Promise<DownloadLayout>>()
  readonly #waiting: (() => void)[] = []
  #making = 0

  /** What fails is tried again by the next one who asks. Throws 'unavailable' when too many are waited for. */
  load(key: string, create: () => Promise<DownloadLayout>): Promise<DownloadLayout> {
    const layout = this.#layouts.get(key) ?? this.#make(create)
    this.#layouts.delete(key)
    this.#layouts.set(key, layout)
    layout.catch(() => {
      if (this.#layouts.get(key) === layout) this.#layouts.delete(key)
    })
    for (const oldest of this.#layouts.keys()) {
      if (this.#layouts.size <= maxLayouts) break
      this.#layouts.delete(oldest)
    }
    return layout
  }

  async #make(create: () => Promise<DownloadLayout>): Promise<DownloadLayout> {
    if (this.#making >= maxMaking) {
      if (this.#waiting.length >= maxWaiting) throw new AppError('unavailable', 'too many downloads begin at once')
      // Whoever is done hands its turn on.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#making++
    try {
      return await create()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#making--
    }
  }
}
