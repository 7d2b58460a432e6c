// Whether the disk still confirms writes to an SQLite file. A failed sync is final: Linux marks the pages that it could
// not write as clean, so the next sync succeeds without them, and SQLite continues as if nothing had happened. After a
// failed sync, nothing is written. The process must end, and the next start writes the whole log into the database
// again. See docs/design/store.md.

import { AppError } from '../../base/error.ts'

/** SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC. */
const syncFailures = new Set([1034, 1290])

/** Returns true if this SQLite error is a failed sync. */
export function isSyncFailure(error: unknown): boolean {
  return syncFailures.has((error as { errcode?: number } | undefined)?.errcode ?? 0)
}

export class SyncLoss {
  readonly #file: string
  readonly #lost = Promise.withResolvers<AppError>()
  #error: AppError | undefined

  constructor(file: string) {
    this.#file = file
  }

  /** Resolves with the reason when a sync has failed. */
  get lost(): Promise<AppError> {
    return this.#lost.promise
  }

  get isLost(): boolean {
    return this.#error !== undefined
  }

  /** Notes that a sync has failed. Returns the error to throw. */
  declare(cause: unknown): AppError {
    this.#error ??= new AppError(
      'unavailable',
      `the disk did not confirm what was written to the database ${this.#file}: nothing more is written until the server is started again`,
      { cause },
    )
    this.#lost.resolve(this.#error)
    return this.#error
  }

  /** Throws 'unavailable' after a sync has failed. */
  check(): void {
    if (this.#error) throw this.#error
  }
}
