// When and why the recording of a camera was interrupted, and when it went on: what the files cannot tell while there is none.

import type { Kysely } from 'kysely'
import type { GapMark } from '../model/timeline.ts'
import { isForeignKeyViolation } from './constraint.ts'
import { writeRelaxed } from './durability.ts'
import type { Row, Tables } from './schema.ts'

export class GapMarks {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Another mark of the same millisecond is replaced. That of a camera which is gone is no mark. */
  async add(cameraId: number, { atMs, reason }: GapMark): Promise<void> {
    try {
      await writeRelaxed(this.#db, (db) =>
        db
          .insertInto('gap_marks')
          .values({ camera_id: cameraId, at_ms: atMs, reason: reason ?? null })
          .onConflict((conflict) => conflict.columns(['camera_id', 'at_ms']).doUpdateSet({ reason: reason ?? null }))
          .execute(),
      )
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error
    }
  }

  /** The last one at or before `startMs`, which still holds then, and all up to `endMs`, in order. */
  async list(cameraId: number, startMs: number, endMs: number): Promise<GapMark[]> {
    const ofCamera = this.#db.selectFrom('gap_marks').selectAll().where('camera_id', '=', cameraId)
    const before = await ofCamera.where('at_ms', '<=', startMs).orderBy('at_ms', 'desc').limit(1).execute()
    const within = await ofCamera.where('at_ms', '>', startMs).where('at_ms', '<=', endMs).orderBy('at_ms').execute()
    return [...before, ...within].map(toMark)
  }

  /** Those that no footage is near any more; the last of them stays. */
  async removeBefore(cameraId: number, beforeMs: number): Promise<void> {
    const [kept] = await this.list(cameraId, beforeMs, beforeMs)
    if (!kept) return
    await writeRelaxed(this.#db, (db) =>
      db.deleteFrom('gap_marks').where('camera_id', '=', cameraId).where('at_ms', '<', kept.atMs).execute(),
    )
  }
}

function toMark({ at_ms, reason }: Row<'gap_marks'>): GapMark {
  return { atMs: at_ms, reason: reason ?? undefined }
}
