// Runs commands in the process of the test. Starting a process for each would take most of the time.

import { tmpdir } from 'node:os'
import { PassThrough, type Readable, Writable } from 'node:stream'
import { runCommandLine } from '../../server/commands/command-line.ts'
import { commands } from '../../server/commands/commands.ts'

export type CommandOutcome = {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** The parsed output if it is a JSON object, otherwise an empty object. */
  // biome-ignore lint/suspicious/noExplicitAny: tests check what was printed
  readonly json: any
}

export type CommandSurroundings = {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Standard input. */
  readonly input?: string
}

/** Does not reject if the command fails. */
export async function runCommand(
  args: readonly string[],
  { env = {}, input = '' }: CommandSurroundings = {},
): Promise<CommandOutcome> {
  const stdin: Readable = new PassThrough().end(input)
  const stdout = new TextSink()
  const stderr = new TextSink()
  const terminal = { stdin, stdout, stderr }
  const code = await runCommandLine({ args, commands, terminal, env, cwd: tmpdir(), version: 'test' })
  const json = stdout.text.startsWith('{') ? JSON.parse(stdout.text) : {}
  return { code, stdout: stdout.text, stderr: stderr.text, json }
}

class TextSink extends Writable {
  text = ''
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}
