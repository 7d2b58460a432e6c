// The option `database`: a file or the address of a PostgreSQL database, which may hold a password.

import { databaseFile } from '../store/database-file.ts'
import { isCompletePostgresUrl } from '../store/postgres-url.ts'
import { type Option, pathOption } from './option.ts'

const path = pathOption<string>({
  placeholder: 'PLACE',
  sentence:
    'Database: a file of SQLite or the address of a PostgreSQL database; a password is safer in the file or the variable than in a flag, which all users of the machine can read.',
  defaultText: '`nightjar.db` in the data folder',
  createDefault: ({ dataDir }) => databaseFile(dataDir),
})

export const databaseOption: Option<string> = {
  ...path,
  isSecret: true,
  limits: 'a file, or `postgres://user:password@host:port/name`',
  parse(text, baseDir) {
    if (!/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return path.parse(text, baseDir)
    if (!isCompletePostgresUrl(text)) throw new Error('expected a file or postgres://user:password@host:port/name')
    return text
  },
}
