// Query defaults: cache times, retries, and how connection failures are recognized.

import { QueryCache, QueryClient } from '@tanstack/react-query'
import { NightjarError } from '../../sdk/index.ts'
import { Connection } from './connection.ts'

export const connection = new Connection(() => queryClient.invalidateQueries())

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onSuccess: () => connection.noteAnswer(),
    onError: (error) => connection.noteFailure(error),
  }),
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (failures, error) => isLost(error) && failures < 2,
      retryDelay: (attempt) => Math.min(4_000, 500 * 2 ** attempt),
    },
    // Retrying a mutation could create something twice. It is better to tell the user that the result is unknown.
    mutations: { retry: false },
  },
})

/** True when no response arrived, which says nothing about the request itself. */
export function isLost(error: unknown): boolean {
  return error instanceof NightjarError && (error.status === 0 || error.status === 502 || error.status === 503)
}
