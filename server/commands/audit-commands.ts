// nightjar audit …: the audit log of accounts and credentials.

import { writeTime } from '../model/time.ts'
import type { AuditRecord } from '../store/accounts/audit.ts'
import type { Command } from './command.ts'
import { getNamedUser } from './names.ts'
import { withStore } from './open-data.ts'
import { limitOption, readPage } from './page-options.ts'
import { writeTable } from './table.ts'

const auditList: Command = {
  name: 'audit list',
  summary: 'Show the audit log of accounts and credentials, newest first.',
  positionals: [],
  options: {
    user: { placeholder: 'USER', description: 'Only entries of this account: email address or id.' },
    ...limitOption,
  },
  run: ({ config, options }) => {
    const page = readPage(options, auditList)
    return withStore(config, async (store) => {
      const user = options.user === undefined ? undefined : await getNamedUser(store, options.user)
      const records = await store.audit.list(user?.id, page)
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

function writeRecord({ id, atMs, event, userId, subject, ip, userAgent, detail }: AuditRecord) {
  return { id, at: writeTime(atMs), event, user_id: userId, subject, ip, user_agent: userAgent, detail }
}
