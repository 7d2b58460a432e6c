// Query for the signed-in user, shared by all views.

import { useQuery } from '@tanstack/react-query'
import { useClient } from './clients.tsx'

export const meKey = ['me'] as const

export function useMe() {
  const client = useClient()
  return useQuery({ queryKey: meKey, queryFn: ({ signal }) => client.me.get({ signal }), staleTime: 60_000 })
}
