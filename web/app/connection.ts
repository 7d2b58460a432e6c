// Tracks whether the server is reachable. While it is not, polls it; once it is back, refetches everything.

import { NightjarError } from '../../sdk/index.ts'

const firstDelayMs = 1_000
const longestDelayMs = 10_000

export class Connection {
  readonly #onBack: () => void
  readonly #ask: () => Promise<boolean>
  readonly #listeners = new Set<() => void>()
  #isLost = false

  constructor(onBack: () => void, ask: () => Promise<boolean> = isThere) {
    this.#onBack = onBack
    this.#ask = ask
  }

  get isLost(): boolean {
    return this.#isLost
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  noteAnswer(): void {
    this.#set(false)
  }

  noteFailure(error: unknown): void {
    if (!(error instanceof NightjarError) || error.status !== 0 || this.#isLost) return
    this.#set(true)
    void this.#wait()
  }

  async #wait(): Promise<void> {
    for (let delayMs = firstDelayMs; this.#isLost; delayMs = Math.min(longestDelayMs, delayMs * 1.5)) {
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      if (!(await this.#ask())) continue
      this.#set(false)
      this.#onBack()
      return
    }
  }

  #set(isLost: boolean): void {
    if (this.#isLost === isLost) return
    this.#isLost = isLost
    for (const listener of this.#listeners) listener()
  }
}

async function isThere(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store' })).ok
  } catch {
    return false
  }
}
