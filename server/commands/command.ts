// What one command of the command line is, as data: its parsing and its help follow from it.

import type { Config } from '../config.ts'
import type { Terminal } from './terminal.ts'

export type CommandOption = {
  /** What stands for the value in the help; none for a switch. */
  readonly placeholder?: string
  readonly description: string
  readonly isRequired?: true
  /** Understood, and left out of the help: there is something better. */
  readonly isHidden?: true
}

export type CommandOptions = Readonly<Record<string, CommandOption>>

export type Command = {
  /** One or two words: `serve`, `user add`. */
  readonly name: string
  readonly summary: string
  /** Names of the arguments without an option, all required: `['CAMERA']`. */
  readonly positionals: readonly string[]
  /** Besides those every command has. */
  readonly options: CommandOptions
  run(call: CommandCall): Promise<CommandResult>
}

export type CommandCall = {
  /** As given; required ones are there. */
  readonly options: Readonly<Record<string, string | undefined>>
  readonly switches: ReadonlySet<string>
  readonly positionals: readonly string[]
  readonly config: Config
  readonly terminal: Terminal
}

export type CommandResult = {
  /** Printed with `--json`: one object, names as in the interface. None for a command that answers nothing. */
  readonly json?: Readonly<Record<string, unknown>>
  /** Printed otherwise, without the last line's end; empty for nothing. */
  readonly text: string
  /** True when the command did its work and found something wrong. */
  readonly isFailure?: boolean
}

/** The command line was not understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** The command whose help tells more, if it got that far. */
  readonly command: Command | undefined

  constructor(message: string, command?: Command) {
    super(message)
    this.command = command
  }
}
