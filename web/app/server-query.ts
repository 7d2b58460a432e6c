// How the server is doing; its owners alone may know.

import { useQuery } from '@tanstack/react-query'
import type { Client } from '../../sdk/index.ts'
import { useTexts } from '../texts/texts.tsx'
import { useClient } from './clients.tsx'
import { useMe } from './me-query.ts'

export const serverQuery = (client: Client) => ({
  queryKey: ['server'] as const,
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => client.server.get({ signal }),
})

/** What is said under an address a mail will go to: `usual`, or to owners that it will not go anywhere by itself. */
export function useMailHint(usual: string): string {
  const client = useClient()
  const { server: texts } = useTexts()
  const isOwner = useMe().data?.is_owner === true
  const server = useQuery({ ...serverQuery(client), enabled: isOwner, staleTime: 60_000 })
  return server.data?.mail === 'folder' ? texts.noMail : usual
}
