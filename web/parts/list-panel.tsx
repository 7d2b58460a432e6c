// A list on a card, while it is read, when it could not be, and when it is empty.

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
  /** Said when there is nothing. */
  readonly none: string
  /** What an item is searched by, where the list is long. */
  readonly nameOf: (item: T) => string
  /** A `<li>` with a key. */
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
