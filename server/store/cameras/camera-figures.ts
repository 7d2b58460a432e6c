// Stream statistics of cameras, at most half a minute old, for readers that have only the
// database.

import type { Kysely } from 'kysely'
import type { CameraFigures } from '../../model/camera-figures.ts'
import type { CameraLease } from '../../model/camera-lease.ts'
import { writeRelaxed } from '../engine/durability.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Tables } from '../schema.ts'
import { listHeld } from '../server/leases.ts'

const rowsAtOnce = 200

export class CameraFigureRows {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /**
   * Replaces the statistics of these cameras. A deleted camera has none. `leases`: of those that are held under one; what
   * another server has meanwhile is left alone.
   */
  async write(
    figures: ReadonlyMap<number, CameraFigures>,
    leases: ReadonlyMap<number, CameraLease> = new Map(),
  ): Promise<void> {
    const ids = [...figures.keys()]
    for (let i = 0; i < ids.length; i += rowsAtOnce) {
      await writeRelaxed(this.#db, (db) =>
        inTransaction(db, async (transaction) => {
          const some = ids.slice(i, i + rowsAtOnce)
          const leased = await listHeld(
            transaction,
            some.flatMap((id) => leases.get(id) ?? []),
          )
          const cameras = await transaction.selectFrom('cameras').select('id').where('id', 'in', some).execute()
          const known = cameras.filter(({ id }) => !leases.has(id) || leased.has(id))
          if (known.length === 0) return
          await transaction
            .insertInto('camera_figures')
            .values(known.map(({ id }) => ({ camera_id: id, figures: JSON.stringify(figures.get(id)) })))
            .onConflict((conflict) =>
              conflict.column('camera_id').doUpdateSet((of) => ({ figures: of.ref('excluded.figures') })),
            )
            .execute()
        }),
      )
    }
  }

  async find(cameraId: number): Promise<CameraFigures | undefined> {
    const row = await this.#db
      .selectFrom('camera_figures')
      .select('figures')
      .where('camera_id', '=', cameraId)
      .executeTakeFirst()
    return row && (JSON.parse(row.figures) as CameraFigures)
  }
}
