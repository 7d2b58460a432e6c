// Publishes changes of the store, by this process or by another one (the command line beside a running
// server).

/**
 * - `records`: guests, tokens, sessions and what else opens something
 * - `camera`: that camera or its recording was added, changed or removed
 * - `accounts`: accounts, with all that is theirs
 * - `waiting_mails`: another server has an email to send
 * - `camera_leases`: cameras have changed from one server to another, or are to
 * - `places`: where files of the archive are
 * - `status`: what cameras and recordings report of themselves, and that a guest has looked; nothing to act on
 * - `events`: of cameras; listeners are not notified, see `eventsVersion`
 * - `foreign`: another process committed; what, is not known (SQLite, or a lost connection to PostgreSQL)
 */
export type StoreChange =
  | 'records'
  | 'places'
  | 'waiting_mails'
  | 'camera_leases'
  | 'accounts'
  | 'status'
  | 'foreign'
  | 'events'
  | { readonly camera: number }

export type ChangeListener = (change: Exclude<StoreChange, 'events'>) => void

/** Changes are published here after the commit. */
export type ChangePublisher = { publish(change: StoreChange): void }

export class ChangeFeed implements ChangePublisher {
  readonly #listeners = new Set<ChangeListener>()
  #version = 1
  #events = 0
  #reports = 0

  /** Increases with every change. What was read at one version may be cached until it changes. */
  get version(): number {
    return this.#version
  }

  /** Like `version`, for data that includes events, which arrive all the time and change nothing else. */
  get eventsVersion(): number {
    return this.#version + this.#events
  }

  /** Like `version`, for who may do what, which cameras change nothing of by their reports. */
  get accessVersion(): number {
    return this.#version - this.#reports
  }

  /** Called synchronously after the commit; must not throw. Returns the function that removes the listener. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  publish(change: StoreChange): void {
    if (change === 'events') {
      this.#events++
      return
    }
    this.#version++
    if (change === 'status' || change === 'waiting_mails' || change === 'camera_leases') this.#reports++
    for (const listener of this.#listeners) listener(change)
  }
}
