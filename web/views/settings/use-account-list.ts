// Lists that belong to an account: read completely, and again after each change.

import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { readAll } from '../../app/read-all.ts'

export type AccountList<T> = UseQueryResult<T[]> & {
  /** For mutations: reads the list again when the mutation has ended, whatever its result. */
  readonly onSettled: () => Promise<void>
}

export function useAccountList<T>(
  name: string,
  listAll: (query: { limit: number }, options: { signal: AbortSignal }) => AsyncIterable<T>,
): AccountList<T> {
  const queries = useQueryClient()
  const queryKey = ['account', name]
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) => readAll(listAll({ limit: 1000 }, { signal })),
  })
  return { ...list, onSettled: () => queries.invalidateQueries({ queryKey }) }
}
