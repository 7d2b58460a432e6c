// Writes audit log entries for commands.

import type { NewAuditRecord } from '../store/accounts/audit.ts'
import type { Store } from '../store/store.ts'

type Event = Pick<NewAuditRecord, 'event' | 'userId' | 'subject'> & Partial<Pick<NewAuditRecord, 'detail'>>

/** The operating system's own log records who ran the command. */
export async function record(store: Pick<Store, 'audit'>, { detail = {}, ...event }: Event): Promise<void> {
  const noted = { ...event, atMs: Date.now(), ip: null, userAgent: null, detail: { via: 'command line', ...detail } }
  await store.audit.insert([noted])
}
