// The program ./nightjar COMMAND. It passes the process's streams, arguments and environment to the commands.

import { availableParallelism } from 'node:os'
import process from 'node:process'
import { readVersion } from '../version.ts'
import { appCommands } from './app-commands.ts'
import { auditCommands } from './audit-commands.ts'
import { cameraCommands } from './camera-commands.ts'
import { checkCommand } from './check-command.ts'
import { runCommandLine } from './command-line.ts'
import { doctorCommand } from './doctor-command.ts'
import { eventCommands } from './event-commands.ts'
import { guestCommands } from './guest-commands.ts'
import { identityCommands } from './identity-commands.ts'
import { onvifCommands } from './onvif-commands.ts'
import { probeCommand } from './probe-command.ts'
import { secondFactorCommands } from './second-factor-commands.ts'
import { serveCommand } from './serve-command.ts'
import { sessionCommands } from './session-commands.ts'
import { storageCommands } from './storage-commands.ts'
import { tokenCommands } from './token-commands.ts'
import { userCommands } from './user-commands.ts'

// Password hashing, file access and name look-ups share libuv's thread pool. It has four threads unless it is
// configured before its first use.
process.env.UV_THREADPOOL_SIZE ??= String(Math.max(16, availableParallelism() + 8))

process.exitCode = await runCommandLine({
  args: process.argv.slice(2),
  commands: [
    serveCommand,
    ...userCommands,
    ...secondFactorCommands,
    ...tokenCommands,
    ...appCommands,
    ...sessionCommands,
    ...identityCommands,
    ...auditCommands,
    ...cameraCommands,
    probeCommand,
    ...onvifCommands,
    ...guestCommands,
    ...eventCommands,
    ...storageCommands,
    checkCommand,
    doctorCommand,
  ],
  terminal: process,
  env: process.env,
  cwd: process.cwd(),
  version: readVersion(),
})

// After a failure, open connections stay open. At a regular end, SQLite would close them and remove a log that is not
// confirmed on the disk (server/store/engine/sync-loss.ts).
if (process.exitCode !== 0) process.exit()
