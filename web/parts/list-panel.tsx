// A list on a card, with its loading, error and empty states.

import type { ReactNode } from 'react'
import { useTexts } from '../texts/texts.tsx'
import { Failure } from './failure.tsx'
import { useSearch } from './search.tsx'

export type ListPanelProps<T> = {
  readonly title: string
  readonly list: {
    readonly data: readonly T[] | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  /** Shown when the list is empty. */
  readonly none: string
  /** The text that a long list is searched by. */
  readonly nameOf: (item: T) => string
  /** Returns a `<li>` with a key. */
  readonly children: (item: T) => ReactNode
}

export function ListPanel<T>({ title, list, none, nameOf, children }: ListPanelProps<T>) {
  const { loading } = useTexts()
  const { found, field } = useSearch(list.data ?? [], nameOf)
  return (
    <div className="panel">
      <h2>{title}</h2>
      {list.data === undefined &&
        (list.error ? <Failure error={list.error} onAgain={() => list.refetch()} /> : <p>{loading}</p>)}
      {list.data?.length === 0 && <p className="hint">{none}</p>}
      {field}
      {found.length > 0 && <ul className="rows">{found.map(children)}</ul>}
    </div>
  )
}
