// nightjar audit …: what happened to accounts and credentials.

import { getPage } from '../model/page.ts'
import { writeTime } from '../model/time.ts'
import type { AuditRecord } from '../store/audit.ts'
import { type Command, UsageError } from './command.ts'
import { getNamedUser } from './names.ts'
import { withStore } from './open-data.ts'
import { writeTable } from './table.ts'

const auditList: Command = {
  name: 'audit list',
  summary: 'Lists what happened to accounts and credentials, newest first.',
  positionals: [],
  options: {
    user: { placeholder: 'USER', sentence: 'Of this account only: e-mail address or id.' },
    limit: { placeholder: 'N', sentence: 'How many at most, 1 to 1000. Default: 100.' },
  },
  run: ({ config, options }) => {
    const limit = readLimit(options.limit)
    return withStore(config, async (store) => {
      const user = options.user === undefined ? undefined : await getNamedUser(store, options.user)
      const records = await store.audit.list(user?.id, getPage({ limit }))
      const rows = records.map(({ atMs, event, userId, subject, ip, detail }) => [
        writeTime(atMs),
        event,
        userId === null ? '' : String(userId),
        subject ?? '',
        ip ?? '',
        Object.entries(detail)
          .map(([name, value]) => `${name}=${value}`)
          .join(' '),
      ])
      const text = writeTable(['TIME', 'EVENT', 'USER', 'ABOUT', 'FROM', 'DETAIL'], rows, 'Nothing happened yet.')
      return { json: { events: records.map(writeRecord) }, text }
    })
  },
}

export const auditCommands: readonly Command[] = [auditList]

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > 1000) throw new UsageError('--limit: expected a whole number from 1 to 1000', auditList)
  return limit
}

function writeRecord({ id, atMs, event, userId, subject, ip, userAgent, detail }: AuditRecord) {
  return { id, at: writeTime(atMs), event, user_id: userId, subject, ip, user_agent: userAgent, detail }
}
