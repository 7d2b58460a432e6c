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

/**
 * The hint below an email field: `usual`, or, for owners, that mail is only written to the outbox; and that the link in
 * the mail leads nowhere from another machine. The dashboard is only opened at the public URL.
 */
export function useMailHint(usual: string): string {
  const client = useClient()
  const { server: texts } = useTexts()
  const isOwner = useMe().data?.is_owner === true
  const server = useQuery({ ...serverQuery(client), enabled: isOwner, staleTime: 60_000 })
  const hint = server.data?.mail === 'folder' ? texts.noMail : usual
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname)
  return isLocal ? `${hint} ${texts.localLink(location.origin)}` : hint
}
