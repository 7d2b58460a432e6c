// What a media worker tells the main thread, in the order it was told. A message costs both threads more than what it says, so those that
// are frequent wait a moment for others to go with.

import type { FromWorker } from './cameras/worker-protocol.ts'

/** Longest wait; footage is listed later by as much. */
const waitMs = 100

export class WorkerOutbox {
  readonly #send: (messages: readonly FromWorker[]) => void
  #waiting: FromWorker[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(send: (messages: readonly FromWorker[]) => void) {
    this.#send = send
  }

  post(message: FromWorker): void {
    this.#waiting.push(message)
    if (message.type !== 'fragment_written') this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const messages = this.#waiting
    this.#waiting = []
    this.#send(messages)
  }
}
