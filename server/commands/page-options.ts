// The options --limit and --offset of commands that print long lists.

import { getPage, type Page } from '../model/page.ts'
import { type Command, type CommandOptions, UsageError } from './command.ts'

export const limitOption: CommandOptions = {
  limit: { placeholder: 'N', description: 'Maximum number of results, 1 to 1000. Default: 100.' },
}

export const pageOptions: CommandOptions = {
  ...limitOption,
  offset: { placeholder: 'N', description: 'Number of results to skip. Default: 0.' },
}

/** Throws a UsageError for `command`. */
export function readPage({ limit, offset }: Readonly<Record<string, string | undefined>>, command: Command): Page {
  const read = (name: string, text: string | undefined, min: number, max: number) => {
    if (text === undefined) return undefined
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new UsageError(`--${name}: expected a whole number from ${min} to ${max}`, command)
  }
  return getPage({ limit: read('limit', limit, 1, 1000), offset: read('offset', offset, 0, 999_999_999_999_999) })
}
