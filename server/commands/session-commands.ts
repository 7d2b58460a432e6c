// nightjar session …: browser sessions of users.

import { writeSession } from '../api/answers/account.ts'
import { AppError } from '../base/error.ts'
import { writeTime } from '../model/time.ts'
import type { Command } from './command.ts'
import { getNamedUser } from './names.ts'
import { withStore } from './open-data.ts'
import { record } from './record.ts'
import { writeTable } from './table.ts'

const sessionList: Command = {
  name: 'session list',
  summary: 'List the browser sessions of a user.',
  positionals: ['USER'],
  options: {},
  run: ({ config, positionals }) =>
    withStore(config, async (store) => {
      const user = await getNamedUser(store, positionals[0]!)
      const sessions = await store.sessions.list(user.id)
      const rows = sessions.map(({ id, createdAtMs, seenAtMs, ip, userAgent }) => [
        id,
        writeTime(createdAtMs),
        writeTime(seenAtMs),
        ip,
        (userAgent ?? '').slice(0, 60),
      ])
      const titles = ['ID', 'SINCE', 'LAST SEEN', 'ADDRESS', 'BROWSER']
      return {
        json: {
          sessions: sessions.map((session) => writeSession(session)),
        },
        text: writeTable(titles, rows, `${user.email} is not signed in.`),
      }
    }),
}

const sessionRevoke: Command = {
  name: 'session revoke',
  summary: 'Sign a user out of one browser, or of all.',
  positionals: ['USER'],
  options: { id: { placeholder: 'ID', description: 'Only this session.' } },
  run: ({ config, positionals, options }) =>
    withStore(config, async (store) => {
      const user = await getNamedUser(store, positionals[0]!)
      const { id } = options
      if (id === undefined) await store.sessions.removeOfUser(user.id)
      else if (!(await store.sessions.remove(user.id, id)))
        throw new AppError('not_found', `${user.email} has no session ${id}`)
      await record(store, { event: 'session.revoked', userId: user.id, subject: user.email })
      return { json: { user_id: user.id, revoked: true }, text: `Signed ${user.email} out.` }
    }),
}

export const sessionCommands: readonly Command[] = [sessionList, sessionRevoke]
