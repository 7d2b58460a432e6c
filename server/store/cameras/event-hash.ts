// The hash that authorizes a camera to report events, as stored: sealed, because its owner may read it at any time, and
// as SHA-256, to find the camera by it.

import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { isPostgres } from '../engine/database.ts'
import type { SealedBox } from '../engine/sealed-box.ts'
import { inTransaction } from '../engine/transaction.ts'
import type { Tables } from '../schema.ts'

const mark = 'v1.'

export function sealEventHash(box: SealedBox, cameraId: number, hash: string): string {
  return mark + Buffer.from(box.seal(hash, contextOf(cameraId))).toString('base64url')
}

/** Throws 'corrupt'. */
export function openEventHash(box: SealedBox, cameraId: number, sealed: string): string {
  return box.open(Buffer.from(sealed.slice(mark.length), 'base64url'), contextOf(cameraId))
}

export function digestEventHash(hash: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(hash).digest())
}

/**
 * Runs once for a database of an earlier version: seals the hashes that were stored as plaintext and overwrites
 * the plaintext.
 */
export async function sealEventHashes(db: Kysely<Tables>, box: SealedBox): Promise<void> {
  if (!(await selectOpen(db).limit(1).executeTakeFirst())) return
  const isSqlite = !isPostgres(db)
  if (isSqlite) await sql`pragma secure_delete = on`.execute(db)
  await inTransaction(db, async (transaction) => {
    const rows = await selectOpen(transaction).execute()
    for (const { id, event_hash_sealed: hash } of rows) {
      const sealed = sealEventHash(box, id, hash)
      await transaction.updateTable('cameras').set({ event_hash_sealed: sealed }).where('id', '=', id).execute()
    }
  })
  if (!isSqlite) return
  await sql`pragma wal_checkpoint(truncate)`.execute(db)
  await sql`pragma secure_delete = off`.execute(db)
}

function selectOpen(db: Kysely<Tables>) {
  const query = db.selectFrom('cameras').select(['id', 'event_hash_sealed'])
  return query.where('event_hash_sealed', 'not like', `${mark}%`)
}

const contextOf = (cameraId: number) => `camera ${cameraId} event hash`
