// When and why the recording of a camera was interrupted, and when it resumed. Files cannot tell this, because none are
// written meanwhile.

import type { Kysely } from 'kysely'
import type { GapMark } from '../../model/gap-mark.ts'
import { isForeignKeyViolation } from '../engine/constraint.ts'
import { writeRelaxed } from '../engine/durability.ts'
import type { Row, Tables } from '../schema.ts'

export class GapMarks {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /**
   * Adds the newest mark. Marks with later times, made before the clock was set back, are deleted. A mark of the same
   * millisecond is replaced. Does nothing for a deleted camera.
   */
  async add(cameraId: number, { atMs, reason, epoch = 0 }: GapMark): Promise<void> {
    try {
      await writeRelaxed(this.#db, async (db) => {
        await db
          .deleteFrom('gap_marks')
          .where('camera_id', '=', cameraId)
          .where((of) => of.or([of('epoch', '>', epoch), of.and([of('epoch', '=', epoch), of('at_ms', '>', atMs)])]))
          .execute()
        await db
          .insertInto('gap_marks')
          .values({ camera_id: cameraId, epoch, at_ms: atMs, reason: reason ?? null })
          .onConflict((conflict) =>
            conflict.columns(['camera_id', 'epoch', 'at_ms']).doUpdateSet({ reason: reason ?? null }),
          )
          .execute()
      })
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error
    }
  }

  /**
   * For each epoch, the last mark at or before `startMs`, which is still valid then, and all marks up to `endMs`, in
   * the order of recording.
   */
  async list(cameraId: number, startMs: number, endMs: number): Promise<GapMark[]> {
    const newest = await this.findNewest(cameraId)
    const lastEpoch = newest?.epoch ?? 0
    const marks: GapMark[] = []
    for (let epoch = lastEpoch > 0 ? await this.#findFirstEpoch(cameraId) : 0; epoch <= lastEpoch; epoch++)
      marks.push(...(await this.#listEpoch(cameraId, epoch, { startMs, endMs })))
    return marks
  }

  /** The newest mark. */
  async findNewest(cameraId: number): Promise<GapMark | undefined> {
    const row = await this.#ofCamera(cameraId)
      .orderBy('epoch', 'desc')
      .orderBy('at_ms', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row && toMark(row)
  }

  /** Deletes marks that are older than all footage, which begins at `beforeMs` of `epoch`; keeps the last of them. */
  async removeBefore(cameraId: number, beforeMs: number, epoch = 0): Promise<void> {
    const kept = await this.#ofCamera(cameraId)
      .where((of) => of.or([of('epoch', '<', epoch), of.and([of('epoch', '=', epoch), of('at_ms', '<=', beforeMs)])]))
      .orderBy('epoch', 'desc')
      .orderBy('at_ms', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (!kept) return
    const { epoch: keptEpoch, at_ms: keptMs } = kept
    await writeRelaxed(this.#db, (db) =>
      db
        .deleteFrom('gap_marks')
        .where('camera_id', '=', cameraId)
        .where((of) =>
          of.or([of('epoch', '<', keptEpoch), of.and([of('epoch', '=', keptEpoch), of('at_ms', '<', keptMs)])]),
        )
        .execute(),
    )
  }

  async #findFirstEpoch(cameraId: number): Promise<number> {
    const row = await this.#ofCamera(cameraId).orderBy('epoch').orderBy('at_ms').limit(1).executeTakeFirst()
    return row?.epoch ?? 0
  }

  async #listEpoch(
    cameraId: number,
    epoch: number,
    { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  ): Promise<GapMark[]> {
    const ofEpoch = this.#ofCamera(cameraId).where('epoch', '=', epoch)
    const before = await ofEpoch.where('at_ms', '<=', startMs).orderBy('at_ms', 'desc').limit(1).execute()
    const within = await ofEpoch.where('at_ms', '>', startMs).where('at_ms', '<=', endMs).orderBy('at_ms').execute()
    return [...before, ...within].map(toMark)
  }

  #ofCamera(cameraId: number) {
    return this.#db.selectFrom('gap_marks').selectAll().where('camera_id', '=', cameraId)
  }
}

function toMark({ at_ms, reason, epoch }: Row<'gap_marks'>): GapMark {
  return { atMs: at_ms, reason: reason ?? undefined, ...(epoch > 0 && { epoch }) }
}
