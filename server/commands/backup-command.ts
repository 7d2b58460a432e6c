// nightjar backup

import { realpath, rename, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { AppError } from '../base/error.ts'
import { syncFolder } from '../base/sync-folder.ts'
import { writeByteSize } from '../model/byte-size.ts'
import { isPostgresUrl } from '../store/postgres/postgres-url.ts'
import type { Command } from './command.ts'
import { checkThere } from './open-data.ts'

/** Below, it takes less than a second. */
const slowBytes = 100 * 2 ** 20

export const backupCommand: Command = {
  name: 'backup',
  summary:
    'Copy the database into a file, while the server runs. A copy that is there is replaced when the new one is complete. Keep secret.key and the recordings too.',
  positionals: ['FILE'],
  options: {},
  async run({ config, positionals, terminal }) {
    const { data, database, secretKeyFile } = config
    if (isPostgresUrl(database))
      throw new AppError('invalid', 'the database is PostgreSQL: use pg_dump -Fc, as docs/operating/backup.md explains')
    await checkThere({ data, database })
    const { copyDatabase, isSqliteFile } = await import('../store/sqlite/database-copy.ts')
    const target = await findTarget(resolve(positionals[0]!), basename(database))
    const there = await stat(target).catch(() => undefined)
    if (there && (await realpath(target)) === (await realpath(database)))
      throw new AppError('invalid', `${target} is the database itself: name another file`)
    if (there && there.size > 0 && !(await isSqliteFile(target)))
      throw new AppError('conflict', `${target} is no database: name another file, or remove it`)
    const { size } = await stat(database)
    if (size > slowBytes) terminal.stderr.write(`copying ${writeByteSize(size)} …\n`)
    const startedMs = performance.now()
    const temporary = `${target}.new`
    const bytes = await copyDatabase(database, temporary)
    await rename(temporary, target)
    await syncFolder(dirname(target))
    const seconds = Math.round(performance.now() - startedMs) / 1000
    return {
      json: { file: target, bytes, seconds },
      text: `The database is in ${target}, ${writeByteSize(bytes)}.\nIt can be used only with ${secretKeyFile ?? join(data, 'secret.key')}: keep a copy of that where nobody else can read it.`,
    }
  },
}

/** Throws 'not_found' if the folder does not exist. */
async function findTarget(path: string, name: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return join(path, name)
  if (!(await stat(dirname(path)).catch(() => undefined)))
    throw new AppError('not_found', `there is no folder ${dirname(path)}: create it first`)
  return path
}
