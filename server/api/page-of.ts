// Answers of lists that are short enough to be read whole.

import { getPage, type Page, writePageLinks } from '../model/page.ts'

type ListCall = {
  query(): { readonly limit?: number | undefined; readonly offset?: number | undefined }
  readonly queryText: string
}

export type Listing<T> = {
  count: number
  next: string | null
  previous: string | null
  results: T[]
}

/** The part of `items` that the call asks for. `url`: of the list, absolute. */
export function pageOf<Row, T>(call: ListCall, url: string, items: readonly Row[], write: (row: Row) => T): Listing<T> {
  const page = getPage(call.query())
  const { limit, offset } = page
  return writeListing(call, url, page, items.length, items.slice(offset, offset + limit).map(write))
}

export function writeListing<T>(call: ListCall, url: string, page: Page, count: number, results: T[]): Listing<T> {
  return { count, ...writePageLinks(url, call.queryText, count, page), results }
}
