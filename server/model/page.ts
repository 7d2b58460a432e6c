// Pages of a list: how many items, from where, and the links to the neighbours.

export type Page = { readonly limit: number; readonly offset: number }

export const defaultLimit = 100
const maxLimit = 1000

/** The page a query asks for; more than the most a page may hold is the most. Both are known to be in range below. */
export function getPage(query: { readonly limit?: number | undefined; readonly offset?: number | undefined }): Page {
  return { limit: Math.min(query.limit ?? defaultLimit, maxLimit), offset: query.offset ?? 0 }
}

/**
 * Links of the page at `page` in a set of `count`. `url` is absolute and without query, `query` the raw query string of
 * the request: what else it says is kept. `previous` of a page that would start at 0 or before carries no `offset`.
 */
export function writePageLinks(
  url: string,
  query: string,
  count: number,
  page: Page,
): { next: string | null; previous: string | null } {
  const { limit, offset } = page
  const link = (toOffset: number): string => {
    const parameters = new URLSearchParams(query)
    parameters.set('limit', String(limit))
    if (toOffset > 0) parameters.set('offset', String(toOffset))
    else parameters.delete('offset')
    parameters.sort()
    return `${url}?${parameters}`
  }
  return {
    next: offset + limit < count ? link(offset + limit) : null,
    previous: offset > 0 ? link(offset - limit) : null,
  }
}
