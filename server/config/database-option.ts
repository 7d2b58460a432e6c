// The option `database`: a file or the URL of a PostgreSQL database, which may contain a password.

import { databaseFile } from '../store/engine/database-file.ts'
import { isCompletePostgresUrl } from '../store/postgres/postgres-url.ts'
import { type Option, pathOption } from './option.ts'

const path = pathOption<string>({
  placeholder: 'PLACE',
  description:
    'Database: an SQLite file or the URL of a PostgreSQL database. The URL may name several hosts, separated by commas: the server uses the one that takes writes. If the URL contains a password, set it in the file or the variable: all users of the machine can read command-line flags.',
  defaultText: '`nightjar.db` in the data folder',
  createDefault: ({ dataDir }) => databaseFile(dataDir),
})

const expected =
  'expected a file or postgres://user:password@host:port/name, with special characters of the password percent-encoded: @ is %40, / is %2F, # is %23'

export const databaseOption: Option<string> = {
  ...path,
  isSecret: true,
  limits: 'a file, or `postgres://user:password@host:port/name`',
  parse(text, baseDir) {
    if (!/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return path.parse(text, baseDir)
    if (!isCompletePostgresUrl(text)) throw new Error(expected)
    return text
  },
}
