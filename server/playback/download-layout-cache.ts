// Caches the most recent layouts of downloads, because clients that read in ranges request the same one repeatedly. A
// layout may have some MB and is read from thousands of places on the disk, so only a few are created at a time.

import { Semaphore } from '../base/semaphore.ts'
import type { DownloadLayout } from './download-layout.ts'

const maxLayouts = 4

export class DownloadLayoutCache {
  /** Least recently used first. */
  readonly #layouts = new Map<string, Promise<DownloadLayout>>()
  readonly #creating = new Semaphore({
    maxRunning: 2,
    maxWaiting: 50,
    refusal: 'too many downloads were started at once',
  })

  /** After a failure, the next request tries again. Throws 'unavailable' when too many requests are waiting. */
  load(key: string, create: () => Promise<DownloadLayout>): Promise<DownloadLayout> {
    const layout = this.#layouts.get(key) ?? this.#creating.run(create)
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
