// Hook that tells whether the server is unreachable.

import { useSyncExternalStore } from 'react'
import { connection } from './queries.ts'

export function useIsOffline(): boolean {
  return useSyncExternalStore(
    (listener) => connection.subscribe(listener),
    () => connection.isLost,
  )
}
