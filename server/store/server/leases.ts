// Which server has which camera, in a PostgreSQL database. The rows alone decide: a server that slept for an hour finds
// out by its next write, which is refused. Whether a server is alive is in its row of `nodes`, which is locked while its
// cameras are taken, so that it is either renewed before, and keeps them, or not (docs/design/failover.md).

import { type Kysely, sql } from 'kysely'
import { type CameraLease, LostLease } from '../../model/camera-lease.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Row, Tables } from '../schema.ts'
import { type Node, nowMs } from './nodes.ts'

export type LeaseRow = CameraLease & {
  /** The name of the server that has the camera, or that had it last. */
  readonly node: string
  /** False once it was given back. Whether its server is alive, its row tells. */
  readonly isHeld: boolean
  /** By the clock of the database, Unix milliseconds. */
  readonly takenMs: number
}

/** `before`: the server that had the camera; undefined if none ever had. */
export type TakenLease = CameraLease & { readonly before: string | undefined }

export class Leases {
  readonly #db: Kysely<Tables>

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  async list(): Promise<LeaseRow[]> {
    return (await this.#db.selectFrom('camera_leases').selectAll().orderBy('camera_id').execute()).map(toLease)
  }

  /**
   * Takes those of the cameras that exist and that no living server has. Returns what was taken; nothing if this server
   * counts as gone itself.
   */
  async take(self: Pick<Node, 'name' | 'incarnation'>, cameraIds: readonly number[]): Promise<TakenLease[]> {
    if (cameraIds.length === 0) return []
    return inTransaction(this.#db, async (transaction) => {
      const before = await transaction
        .selectFrom('camera_leases')
        .selectAll()
        .where('camera_id', 'in', cameraIds)
        .execute()
      const holders = [...new Set(before.map(({ incarnation }) => incarnation))].filter((each) => each !== released)
      const alive = await lockNodes(transaction, [...holders, self.incarnation])
      if (!alive.has(self.incarnation)) return []
      const gone = holders.filter((each) => !alive.has(each))
      const values = { node: self.name, incarnation: self.incarnation, taken_ms: nowMs }
      const taken = await transaction
        .updateTable('camera_leases')
        .set({ ...values, epoch: sql<number>`epoch + 1` })
        .where('camera_id', 'in', cameraIds)
        .where('incarnation', 'in', [...gone, released])
        .returningAll()
        .execute()
      const missing = cameraIds.filter((id) => !before.some(({ camera_id: cameraId }) => cameraId === id))
      const added = await addLeases(transaction, missing, values)
      const nodeOf = new Map(before.map((row) => [row.camera_id, row.node]))
      return [...taken, ...added].map((row) => ({ ...toLease(row), before: nodeOf.get(row.camera_id) }))
    })
  }

  /** Gives cameras back, so that another server may take them at once. What is not held any more stays as it is. */
  async release(leases: readonly CameraLease[]): Promise<void> {
    for (const { cameraId, incarnation, epoch } of leases)
      await this.#db
        .updateTable('camera_leases')
        .set({ incarnation: released })
        .where('camera_id', '=', cameraId)
        .where('incarnation', '=', incarnation)
        .where('epoch', '=', epoch)
        .execute()
  }
}

/** As the incarnation of a camera that nobody has. */
const released = ''

/**
 * Throws `LostLease` unless the camera is held under this lease, which stays so until the end of the transaction: a
 * server that takes the camera waits for it.
 */
export async function checkLease(transaction: Kysely<Tables>, lease: CameraLease): Promise<void> {
  const { cameraId, incarnation, epoch } = lease
  const held = await transaction
    .selectFrom('camera_leases')
    .select('camera_id')
    .where('camera_id', '=', cameraId)
    .where('incarnation', '=', incarnation)
    .where('epoch', '=', epoch)
    .forShare()
    .executeTakeFirst()
  if (!held) throw new LostLease(lease)
}

/** The cameras that are held under these leases, which stays so until the end of the transaction. */
export async function listHeld(transaction: Kysely<Tables>, leases: readonly CameraLease[]): Promise<Set<number>> {
  if (leases.length === 0) return new Set()
  const cameraIds = leases.map(({ cameraId }) => cameraId)
  const rows = await transaction
    .selectFrom('camera_leases')
    .select(['camera_id', 'incarnation', 'epoch'])
    .where('camera_id', 'in', cameraIds)
    .orderBy('camera_id')
    .forShare()
    .execute()
  const held = new Map(rows.map((row) => [row.camera_id, row]))
  const isHeld = ({ cameraId, incarnation, epoch }: CameraLease) =>
    held.get(cameraId)?.incarnation === incarnation && held.get(cameraId)?.epoch === epoch
  return new Set(leases.filter(isHeld).map(({ cameraId }) => cameraId))
}

/** Those that are alive, and remain so, or do not: their rows are locked, in one order. */
async function lockNodes(transaction: Kysely<Tables>, incarnations: readonly string[]): Promise<Set<string>> {
  const rows = await transaction
    .selectFrom('nodes')
    .select(['incarnation', sql<boolean>`expires_ms > ${nowMs}`.as('is_alive')])
    .where('incarnation', 'in', incarnations)
    .orderBy('name')
    .forUpdate()
    .execute()
  return new Set(rows.flatMap(({ incarnation, is_alive: isAlive }) => (isAlive ? [incarnation] : [])))
}

async function addLeases(
  transaction: Kysely<Tables>,
  cameraIds: readonly number[],
  { node, incarnation }: { readonly node: string; readonly incarnation: string },
): Promise<Row<'camera_leases'>[]> {
  if (cameraIds.length === 0) return []
  return transaction
    .insertInto('camera_leases')
    .columns(['camera_id', 'node', 'incarnation', 'epoch', 'taken_ms'])
    .expression((of) =>
      of
        .selectFrom('cameras')
        .select(['id', sql`${node}::text`.as('node'), sql`${incarnation}::text`.as('incarnation')])
        .select([sql.lit(1).as('epoch'), nowMs.as('taken_ms')])
        .where('id', 'in', cameraIds),
    )
    .onConflict((conflict) => conflict.column('camera_id').doNothing())
    .returningAll()
    .execute()
}

function toLease(row: Row<'camera_leases'>): LeaseRow {
  const { camera_id: cameraId, node, incarnation, epoch, taken_ms: takenMs } = row
  return { cameraId, node, incarnation, epoch, takenMs, isHeld: incarnation !== released }
}
