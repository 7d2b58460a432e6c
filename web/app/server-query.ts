// Query for the state of the server, which only its owners may read.

import { useQuery } from '@tanstack/react-query'
import type { Client } from '../../sdk/index.ts'
import { useTexts } from '../texts/texts.tsx'
import { useClient } from './clients.tsx'
import { useMe } from './me-query.ts'

export const serverQuery = (client: Client) => ({
  queryKey: ['server'] as const,
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => client.server.get({ signal }),
})

/** The hint below an email field: `usual`, or, for owners, that mail is only written to the outbox. */
export function useMailHint(usual: string): string {
  const client = useClient()
  const { server: texts } = useTexts()
  const isOwner = useMe().data?.is_owner === true
  const server = useQuery({ ...serverQuery(client), enabled: isOwner, staleTime: 60_000 })
  return server.data?.mail === 'folder' ? texts.noMail : usual
}
