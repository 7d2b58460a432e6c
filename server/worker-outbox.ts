// Sends the messages of a media worker to the main thread in order. A message costs both threads more than its content,
// so frequent messages wait briefly and are sent together.

import type { FromWorker } from './cameras/worker-protocol.ts'

/** The longest delay of a message, and of the footage that it lists. */
/** The longest wait, by which footage is listed later. */
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
