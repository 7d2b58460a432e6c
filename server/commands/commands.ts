// Every command, in the order of the help.

import { appCommands } from './app-commands.ts'
import { auditCommands } from './audit-commands.ts'
import { backupCommand } from './backup-command.ts'
import { cameraCommands } from './camera-commands.ts'
import { cameraSessionCommands } from './camera-session-commands.ts'
import { certificateCommand } from './certificate-command.ts'
import { checkCommand } from './check-command.ts'
import type { Command } from './command.ts'
import { doctorCommand } from './doctor-command.ts'
import { eventCommands } from './event-commands.ts'
import { guestCommands } from './guest-commands.ts'
import { identityCommands } from './identity-commands.ts'
import { mailCommands } from './mail-commands.ts'
import { nodeCommands } from './node-commands.ts'
import { onvifCommands } from './onvif-commands.ts'
import { placeCommands } from './place-commands.ts'
import { probeCommand } from './probe-command.ts'
import { secondFactorCommands } from './second-factor-commands.ts'
import { serveCommand } from './serve-command.ts'
import { sessionCommands } from './session-commands.ts'
import { storageCommands } from './storage-commands.ts'
import { tokenCommands } from './token-commands.ts'
import { userCommands } from './user-commands.ts'

export const commands: readonly Command[] = [
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
  ...cameraSessionCommands,
  ...onvifCommands,
  ...guestCommands,
  ...mailCommands,
  ...eventCommands,
  ...storageCommands,
  ...placeCommands,
  ...nodeCommands,
  backupCommand,
  certificateCommand,
  checkCommand,
  doctorCommand,
]
