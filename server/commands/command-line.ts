// Runs a command line: finds the command, prints its result and returns the exit code (0 done, 1 failed, 2 usage
// error).

import { parseArgs } from 'node:util'
import { AppError, errorChain } from '../base/error.ts'
import { loadConfig, optionNames } from '../config.ts'
import { type Command, type CommandResult, UsageError } from './command.ts'
import { commonOptions, writeCommandHelp, writeOverview } from './help.ts'
import type { Terminal } from './terminal.ts'

export type CommandLineOptions = {
  readonly args: readonly string[]
  readonly commands: readonly Command[]
  readonly terminal: Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly version: string
}

/** Never rejects for user errors. Returns the exit code. */
export async function runCommandLine(options: CommandLineOptions): Promise<number> {
  const { args, terminal } = options
  const isJson = args.includes('--json')
  try {
    const result = await runCommand(options)
    const output = isJson && result.json ? JSON.stringify(result.json) : result.text
    if (output !== '') terminal.stdout.write(`${output}\n`)
    return result.isFailure ? 1 : 0
  } catch (error) {
    const isUsage = error instanceof UsageError
    const message = isExpected(error) ? explain(error) : ((error as Error).stack ?? String(error))
    if (isJson) {
      const kind = isUsage ? 'usage' : error instanceof AppError ? error.kind : 'internal'
      terminal.stdout.write(`${JSON.stringify({ error: { kind, message: explain(error) } })}\n`)
    }
    const more = isUsage ? `\nTry: nightjar ${error.command ? `${error.command.name} ` : ''}--help` : ''
    terminal.stderr.write(`nightjar: ${message}${more}\n`)
    return isUsage ? 2 : 1
  }
}

/**
 * For user errors, our own message says everything, and the cause from a library ("UNIQUE constraint failed") adds
 * nothing. For a failing database or disk, the operator needs the whole chain of causes.
 */
function explain(error: unknown): string {
  const isUsers = error instanceof AppError && !['unavailable', 'corrupt', 'internal'].includes(error.kind)
  if (!isUsers) return errorChain(error)
  const messages: string[] = []
  for (let e: unknown = error; e instanceof Error; e = e.cause) if (isExpected(e)) messages.push(e.message)
  return messages.join(': ')
}

/**
 * Our own errors and the system's ("address in use") need no stack trace. Any other error is a bug, so its stack is
 * printed.
 */
function isExpected(error: unknown): boolean {
  return (
    error instanceof AppError || error instanceof UsageError || (error as NodeJS.ErrnoException).syscall !== undefined
  )
}

async function runCommand({ args, commands, terminal, env, cwd, version }: CommandLineOptions): Promise<CommandResult> {
  const [first = '', second = ''] = args
  if (first === '' || first === '--help' || first === '-h' || first === 'help') return { text: writeOverview(commands) }
  if (first === '--version') return { text: version }
  const command = commands.find(({ name }) => name === first || name === `${first} ${second}`)
  if (!command) {
    const family = commands.filter(({ name }) => name.startsWith(`${first} `))
    const isHelp = second === '--help' || second === '-h'
    if (family.length > 0 && isHelp) return { text: writeOverview(family) }
    throw unknownCommand(first, second, family)
  }
  const { values, positionals } = parseWords(command, args.slice(command.name.split(' ').length))
  if (values.help) return { text: writeCommandHelp(command) }
  checkComplete(command, values, positionals)
  const flags = Object.fromEntries([...optionNames, 'config'].map((name) => [name, values[name]]))
  const config = await loadConfig({ flags, env, cwd })
  const entries = Object.entries(values)
  return command.run({
    options: Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    switches: new Set(entries.filter(([, value]) => value === true).map(([name]) => name)),
    positionals,
    config,
    terminal,
  })
}

function unknownCommand(first: string, second: string, family: readonly Command[]): UsageError {
  if (family.length === 0) return new UsageError(`there is no command "${first}"`)
  const names = family.map(({ name }) => name.split(' ')[1]).join(', ')
  const isWord = second !== '' && !second.startsWith('-')
  return new UsageError(
    isWord ? `there is no command "${first} ${second}", only ${names}` : `"${first}" needs one of ${names}`,
  )
}

/** Throws UsageError. */
export function parseWords(command: Command, args: readonly string[]) {
  const all = Object.entries({ ...commonOptions, ...command.options })
  const options = Object.fromEntries(
    all.map(([name, { placeholder }]) => [name, { type: placeholder ? 'string' : 'boolean' } as const]),
  )
  try {
    const help = { type: 'boolean', short: 'h' } as const
    const parsed = parseArgs({
      args: [...args],
      options: { ...options, help },
      allowPositionals: true,
      allowNegative: true,
      strict: true,
    })
    const values = { ...parsed.values } as Record<string, string | boolean | undefined>
    // To Node, `--no-cameras` turns off `cameras`, also where there is an option of the whole name and no other.
    for (const name of Object.keys(values)) {
      if (values[name] !== false || name in options || !(`no-${name}` in options)) continue
      values[`no-${name}`] = true
      delete values[name]
    }
    return { values, positionals: parsed.positionals }
  } catch (error) {
    const { message } = error as Error
    // Node appends advice to this message that does not help with a mistyped option.
    throw new UsageError(message.startsWith('Unknown option') ? message.split('. ')[0]! : message, command)
  }
}

function checkComplete(command: Command, values: Record<string, unknown>, positionals: readonly string[]): void {
  for (const [name, option] of Object.entries(command.options)) {
    if (option.isRequired && values[name] === undefined) throw new UsageError(`--${name} is missing`, command)
  }
  const expected = command.positionals
  if (positionals.length < expected.length) throw new UsageError(`${expected[positionals.length]} is missing`, command)
  if (positionals.length > expected.length) {
    throw new UsageError(`"${positionals[expected.length]}" is not expected`, command)
  }
}
