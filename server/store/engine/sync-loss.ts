// Whether the disk still confirms what is written to a file of SQLite. A failed sync is final: Linux regards the pages
// that it did not write as clean, so that the next sync succeeds without them, and SQLite goes on as if nothing had
// happened. From then on nothing is written any more; the process has to end, and its next start writes all of the log
// into the database again. Why: docs/design/store.md.

import { AppError } from '../../base/error.ts'

/** SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC. */
const syncFailures = new Set([1034, 1290])

/** True when this error of SQLite is a failed sync. */
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

  /** Resolves, with what to tell, when a sync has failed. */
  get lost(): Promise<AppError> {
    return this.#lost.promise
  }

  get isLost(): boolean {
    return this.#error !== undefined
  }

  /** A sync has failed. Returns what to throw. */
  declare(cause: unknown): AppError {
    this.#error ??= new AppError(
      'unavailable',
      `the disk did not confirm what was written to the database ${this.#file}: nothing more is written until the server is started again`,
      { cause },
    )
    this.#lost.resolve(this.#error)
    return this.#error
  }

  /** Throws 'unavailable' when a sync has failed. */
  check(): void {
    if (this.#error) throw this.#error
  }
}
