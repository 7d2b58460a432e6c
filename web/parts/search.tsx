// Finding something by its name in a list that is too long to look through.

import { type ReactNode, useState } from 'react'
import { isFound } from '../model/search.ts'
import { useTexts } from '../texts/texts.tsx'

/** Shorter lists are seen at a glance. */
const searchedFrom = 7

export type Search<T> = {
  readonly found: readonly T[]
  /** Where it is typed, and how much was found; nothing where the list is short. Stands before the list, and stays in sight. */
  readonly field: ReactNode
}

export function useSearch<T>(list: readonly T[], nameOf: (item: T) => string): Search<T> {
  const { search: texts } = useTexts()
  const [text, setText] = useState('')
  if (list.length < searchedFrom) return { found: list, field: null }
  const isAsked = text.trim() !== ''
  const found = isAsked ? list.filter((item) => isFound(nameOf(item), text)) : list
  const words = !isAsked ? '' : found.length === 0 ? texts.nothing(text.trim()) : texts.found(found.length, list.length)
  const field = (
    <div className="search">
      <input
        type="search"
        aria-label={texts.label}
        placeholder={texts.label}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <p role="status">{words}</p>
    </div>
  )
  return { found, field }
}
