// Query for the storage that recordings use, shared by all views.

import { useQuery } from '@tanstack/react-query'
import { useClient } from './clients.tsx'

/** The server recalculates at the same interval. */
const intervalMs = 30_000

/** While files are being repaired, their number is always current. */
const repairIntervalMs = 3000

export function useStorage() {
  const client = useClient()
  return useQuery({
    queryKey: ['storage'],
    queryFn: ({ signal }) => client.me.getStorage({ signal }),
    refetchInterval: ({ state }) => (state.data?.server?.repair ? repairIntervalMs : intervalMs),
  })
}
