// Search by name in a long list.

import { type ReactNode, useState } from 'react'
import { isFound } from '../model/search.ts'
import { useTexts } from '../texts/texts.tsx'

/** Shorter lists need no search. */
const searchedFrom = 7

export type Search<T> = {
  readonly found: readonly T[]
  /** The search field and the number of matches, for above the list; nothing for a short list. */
  readonly field: ReactNode
}

export function useSearch<T>(list: readonly T[], nameOf: (item: T) => string): Search<T> {
  const { search: texts } = useTexts()
  const [text, setText] = useState('')
  if (list.length < searchedFrom) return { found: list, field: null }
  const isAsked = text.trim() !== ''
  const found = isAsked ? list.filter((item) => isFound(nameOf(item), text)) : list
  const labels = !isAsked
    ? ''
    : found.length === 0
      ? texts.nothing(text.trim())
      : texts.found(found.length, list.length)
  const field = (
    <div className="search">
      <input
        type="search"
        aria-label={texts.label}
        placeholder={texts.label}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <p role="status">{labels}</p>
    </div>
  )
  return { found, field }
}
