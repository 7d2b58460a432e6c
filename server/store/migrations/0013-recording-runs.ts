// Until when a camera is recorded: recording can be stopped and started without being turned off.

import type { Kysely } from 'kysely'

export async function addRecordingRuns(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('recordings').addColumn('records_until_ms', 'bigint').execute()
}
