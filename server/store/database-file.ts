// Where the database is unless the configuration says otherwise.

import { join } from 'node:path'

/** The file in a data folder: the server's and the command line's. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, 'nightjar.db')
}
