// How long what was read is good, what is asked again, and whether the server can be reached at all.

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
    // Creating something twice is worse than telling that it is not known whether it was made.
    mutations: { retry: false },
  },
})

/** No answer came: nothing is wrong with the request. */
export function isLost(error: unknown): boolean {
  return error instanceof NightjarError && (error.status === 0 || error.status === 502 || error.status === 503)
}
