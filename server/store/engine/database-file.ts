// The default location of the database.

import { join } from 'node:path'

/** The file in a data folder, for the server and the command line. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, 'nightjar.db')
}
