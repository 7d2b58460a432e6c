// The standard streams of a command, and prompts whose answers are not echoed.

import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { AppError } from '../base/error.ts'

export type Terminal = {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
}

/**
 * Prompts on standard error and reads one line without showing it. Throws 'invalid' when the input ends or is
 * interrupted.
 */
export async function readHidden({ stdin, stderr }: Terminal, question: string): Promise<string> {
  // In raw mode, readline itself echoes the input. Here it has no output to write to.
  const lines = createInterface({ input: stdin, terminal: true, historySize: 0 })
  stderr.write(question)
  const line = await new Promise<string | undefined>((resolve) => {
    lines.once('line', resolve)
    lines.once('SIGINT', () => resolve(undefined))
    lines.once('close', () => resolve(undefined))
  })
  lines.close()
  stderr.write('\n')
  if (line === undefined) throw new AppError('invalid', 'nothing was entered')
  return line
}

/** Asks on standard error for a yes or no. No answer is no. */
export async function askYes({ stdin, stderr }: Terminal, question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr })
  lines.setPrompt(`${question} [y/N] `)
  lines.prompt()
  const line = await new Promise<string>((resolve) => {
    lines.once('line', resolve)
    lines.once('close', () => resolve(''))
  })
  lines.close()
  return /^\s*y(?:es)?\s*$/i.test(line)
}

/** Reads all of standard input, without the final line break. */
export async function readPiped({ stdin }: Terminal): Promise<string> {
  return (await text(stdin)).replace(/\r?\n$/, '')
}
