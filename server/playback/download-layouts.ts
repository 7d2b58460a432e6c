// The layouts of the downloads used last: a client that reads in ranges asks for the same one again and again. One may have some MB.

import type { DownloadLayout } from './download-layout.ts'

const maxLayouts = 4

export class DownloadLayouts {
  /** Oldest use first. */
  readonly #layouts = new Map<string, Promise<DownloadLayout>>()

  /** What fails is tried again by the next one who asks. */
  load(key: string, create: () => Promise<DownloadLayout>): Promise<DownloadLayout> {
    const layout = this.#layouts.get(key) ?? create()
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
