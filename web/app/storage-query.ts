// How much space recordings take; read alike wherever it is shown.

import { useQuery } from '@tanstack/react-query'
import { useClient } from './clients.tsx'

/** The server counts anew as often. */
const intervalMs = 30_000

/** While files are repaired, whose number is always the present one. */
const repairIntervalMs = 3000

export function useStorage() {
  const client = useClient()
  return useQuery({
    queryKey: ['storage'],
    queryFn: ({ signal }) => client.me.getStorage({ signal }),
    refetchInterval: ({ state }) => (state.data?.server?.repair ? repairIntervalMs : intervalMs),
  })
}
