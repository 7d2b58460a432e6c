// The program ./nightjar COMMAND. It passes the process's streams, arguments and environment to the commands.

import { availableParallelism } from 'node:os'
import process from 'node:process'
import { readVersion } from '../version.ts'
import { runCommandLine } from './command-line.ts'
import { commands } from './commands.ts'

// Password hashing, file access and name look-ups share libuv's thread pool. It has four threads unless it is
// configured before its first use.
process.env.UV_THREADPOOL_SIZE ??= String(Math.max(16, availableParallelism() + 8))

process.exitCode = await runCommandLine({
  args: process.argv.slice(2),
  commands,
  terminal: process,
  env: process.env,
  cwd: process.cwd(),
  version: readVersion(),
})

// After a failure, open connections stay open. At a regular end, SQLite would close them and remove a log that is not
// confirmed on the disk (server/store/engine/sync-loss.ts).
if (process.exitCode !== 0) process.exit()
