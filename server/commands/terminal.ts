// Where a command reads and writes: the three standard streams, and questions whose answers must not be seen.

import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { AppError } from '../base/error.ts'

export type Terminal = {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable
  readonly stderr: Writable
}

/** Asks on standard error and reads one line without showing it. Throws 'invalid' when the input ends or is interrupted. */
export async function readHidden({ stdin, stderr }: Terminal, question: string): Promise<string> {
  // The echo of a terminal in raw mode is readline's own doing, and here it has nowhere to write to.
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

/** All of standard input, without the end of its last line. */
export async function readPiped({ stdin }: Terminal): Promise<string> {
  return (await text(stdin)).replace(/\r?\n$/, '')
}
