// The audit log, for what is done on the command line.

import type { NewAuditRecord } from '../store/audit.ts'
import type { Store } from '../store/store.ts'

type Event = Pick<NewAuditRecord, 'event' | 'userId' | 'subject'> & Partial<Pick<NewAuditRecord, 'detail'>>

/** Who ran the command is for the machine's own log to tell. */
export async function record(store: Pick<Store, 'audit'>, { detail = {}, ...event }: Event): Promise<void> {
  const noted = { ...event, atMs: Date.now(), ip: null, userAgent: null, detail: { via: 'command line', ...detail } }
  await store.audit.insert([noted])
}
