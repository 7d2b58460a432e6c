// Query for the storage that recordings use, shared by all views.

import { useQuery } from '@tanstack/react-query'
import type { Client } from '../../sdk/index.ts'
import { useClient, useClientOf } from './clients.tsx'
import { useMe } from './me-query.ts'
import { serverQuery } from './server-query.ts'

/** The server recalculates at the same interval. */
const intervalMs = 30_000

/** While files are being repaired, their number is always current. */
const repairIntervalMs = 3000

/** As the server says that answers. */
export const useStorage = () => useStorageFrom(useClient(), 'any')

/** As one of several servers says, which alone knows its disks. */
export const useStorageOf = (server: string) => useStorageFrom(useClientOf(server), `of ${server}`)

function useStorageFrom(client: Client, which: string) {
  return useQuery({
    queryKey: ['storage', which],
    queryFn: ({ signal }) => client.me.getStorage({ signal }),
    refetchInterval: ({ state }) => (state.data?.server?.repair ? repairIntervalMs : intervalMs),
  })
}

/** The names of the servers that record, for owners. Empty if there is only one. */
export function useRecordingServers(): readonly string[] {
  const client = useClient()
  const isOwner = useMe().data?.is_owner === true
  const { data } = useQuery({ ...serverQuery(client), enabled: isOwner, refetchInterval: intervalMs })
  const recording = data?.servers.filter(({ has_cameras: records, answers }) => records && answers) ?? []
  return recording.length > 1 ? recording.map(({ name }) => name) : []
}
