// A name that somebody chose, quoted in a text that somebody else reads in our name: a mail, a page.

import { hasHiddenCharacters } from './text.ts'

const maxCharacters = 100

/** The one before a name and the one after it. */
export type QuotationMarks = readonly [open: string, close: string]

/**
 * On one line and in quotation marks, `marks`. Undefined for a name that had better not be repeated: one that holds an
 * address, of which mail programs make a link, or characters that change how the rest is read.
 */
export function quoteName(name: string, [open, close]: QuotationMarks = ['“', '”']): string | undefined {
  const looksLikeAddress = /:\/\/|@|www\.|[\p{L}\p{N}]\.\p{L}{2,}/iu.test(name)
  if (looksLikeAddress || hasHiddenCharacters(name) || name.trim() === '') return undefined
  const characters = [...name]
  const shown = characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join('')}…` : name
  return `${open}${shown.replaceAll(/[„“”"]/g, '’')}${close}`
}
