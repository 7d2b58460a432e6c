// Whether the server is away, for what has to say so.

import { useSyncExternalStore } from 'react'
import { connection } from './queries.ts'

export function useIsLost(): boolean {
  return useSyncExternalStore(
    (listener) => connection.subscribe(listener),
    () => connection.isLost,
  )
}
