// What a parser may do with an input it does not like.

import { AppError } from '../../server/base/error.ts'

/** The message of the parser's own error without its values, or undefined when it had none; other errors go on. */
export function catchOwn(parse: () => void): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'internal') throw error
    return error.message.replaceAll(/\d+|"[^"]*"|found .*/g, '#').slice(0, 80)
  }
}

/** `bytes` in parts of random sizes, each in memory that is overwritten once it was taken: who keeps a view sees rubbish. */
export function pushInParts(bytes: Uint8Array, random: () => number, push: (part: Uint8Array) => void): void {
  const maxBytes = [1, 3, 20, 1500, 70_000][Math.floor(random() * 5)]!
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + Math.floor(random() * maxBytes))
    const part = bytes.slice(at, end)
    push(part)
    part.fill(0xee)
    at = end
  }
}

/** A count as one of few words, so that outcomes differ by their kind and not by every number. */
export const few = (count: number) => (count < 4 ? String(count) : count < 20 ? 'some' : 'many')
