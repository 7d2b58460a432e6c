// The layouts of the downloads used last: a client that reads in ranges asks for the same one again and again. One may have some MB, and is
// made from thousands of places on the disk, so few are made at a time.

import { Semaphore } from '../base/semaphore.ts'
import type { DownloadLayout } from './download-layout.ts'

const maxLayouts = 4

export class DownloadLayouts {
  /** Oldest use first. */
  readonly #layouts = new Map<string, Promise<DownloadLayout>>()
  readonly #making = new Semaphore({ maxRunning: 2, maxWaiting: 50, refusal: 'too many downloads begin at once' })

  /** What fails is tried again by the next one who asks. Throws 'unavailable' when too many are waited for. */
  load(key: string, create: () => Promise<DownloadLayout>): Promise<DownloadLayout> {
    const layout = this.#layouts.get(key) ?? this.#making.run(create)
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
}
