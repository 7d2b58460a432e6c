// Whether the frames of a camera are needed now, because it is recorded or watched. One owner sets the state, and the
// camera's session waits for changes.

import { Notifier } from '../../base/notifier.ts'

export class Demand {
  #isWanted: boolean
  readonly changes = new Notifier()

  constructor(isWanted: boolean) {
    this.#isWanted = isWanted
  }

  get isWanted(): boolean {
    return this.#isWanted
  }

  set(isWanted: boolean): void {
    if (isWanted === this.#isWanted) return
    this.#isWanted = isWanted
    this.changes.notify()
  }
}
