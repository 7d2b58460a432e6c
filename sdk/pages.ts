// Lists from their first item to their last, a page at a time.

import { NightjarError } from './error.ts'
import type { Page } from './generated/objects.ts'

export const defaultLimit = 100

type PageQuery = { limit?: number | undefined; offset?: number | undefined }

/**
 * All items, following `next`. The limit is always said. What was on the page before is left out: items move to the next page
 * when new ones come in front of them meanwhile.
 */
export async function* iteratePages<Item extends { readonly id: number | string }, Q extends PageQuery>(
  list: (query: Q) => Promise<Page<Item>>,
  query: Q,
): AsyncGenerator<Item, void, undefined> {
  const limit = query.limit ?? defaultLimit
  let offset = query.offset ?? 0
  let seen = new Set<Item['id']>()
  while (true) {
    const { results, next } = await list({ ...query, limit, offset })
    for (const item of results) if (!seen.has(item.id)) yield item
    if (next === null) return
    // Only its place is taken from the link: credentials go nowhere but to the client's own server.
    const nextOffset = Number(new URL(next).searchParams.get('offset'))
    if (!(nextOffset > offset)) {
      throw new NightjarError({ status: 200, title: 'invalid_answer', detail: `The next page is not further: ${next}` })
    }
    offset = nextOffset
    seen = new Set(results.map(({ id }) => id))
  }
}
