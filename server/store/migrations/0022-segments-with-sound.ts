// Whether there is sound in a range is asked whenever a stream begins. Without an index it reads every row of the
// range, of a day as a rule.

import { type Kysely, sql } from 'kysely'

export async function indexSegmentsWithSound(db: Kysely<never>): Promise<void> {
  await sql`create index segments_with_sound on segments (is_closed, camera_id, start_ms, end_ms) where codecs like '%,%'`.execute(
    db,
  )
}
