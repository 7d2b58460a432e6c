// The description of one command as data. Both parsing and help follow from it.

import type { Config } from '../config.ts'
import type { Terminal } from './terminal.ts'

export type CommandOption = {
  /** Placeholder of the value in the help. Switches have none. */
  readonly placeholder?: string
  readonly description: string
  readonly isRequired?: true
  /** The option is accepted but not shown in the help, because there is a better one. */
  readonly isHidden?: true
}

export type CommandOptions = Readonly<Record<string, CommandOption>>

export type Command = {
  /** One or two words: `serve`, `user add`. */
  readonly name: string
  readonly summary: string
  /** Names of the positional arguments, all required: `['CAMERA']`. */
  readonly positionals: readonly string[]
  /** Options besides those that every command has. */
  readonly options: CommandOptions
  run(call: CommandCall): Promise<CommandResult>
}

export type CommandCall = {
  /** Option values as given. Required options are always present. */
  readonly options: Readonly<Record<string, string | undefined>>
  readonly switches: ReadonlySet<string>
  readonly positionals: readonly string[]
  readonly config: Config
  readonly terminal: Terminal
}

export type CommandResult = {
  /** Printed with `--json`: one object with the field names of the API. Undefined if the command prints no object. */
  readonly json?: Readonly<Record<string, unknown>>
  /** Printed without `--json`, without the final line break. Empty prints nothing. */
  readonly text: string
  /** True when the command completed and found a problem. */
  readonly isFailure?: boolean
}

/** The command line is not valid. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The command whose help is suggested, if the command is known. */
  readonly command: Command | undefined

  constructor(message: string, command?: Command) {
    super(message)
    this.command = command
  }
}
