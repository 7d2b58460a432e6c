// Makes recorders begin new files, and plays what they wrote, for tests of where files are.

import type { Recording } from '../../contract/recording.ts'
import type { FakeCamera } from '../fake-camera/fake-camera.ts'
import { parsePlaylist } from '../playback/parse-playlist.ts'
import { eventually, type ServerProcess } from '../server-under-test.ts'

type Recorded = { readonly source: FakeCamera; recordings(): Promise<readonly Recording[]> }

/** Every connection begins a new file: all cameras connect again, so many times. */
export async function beginNewFiles({ source, recordings }: Recorded, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const before = await recordings()
    source.faults.dropConnections()
    await eventually('footage in new files', 40_000, async () => {
      const now = await recordings()
      return now.every(
        ({ recording_end: end }, n) => Date.parse(end!) > Date.parse(before[n]!.recording_end ?? '0') + 2500,
      )
    })
  }
}

/** Plays all that was recorded. Returns the status of each entry's answer. */
export async function playAll(server: ServerProcess, cameras: readonly number[]): Promise<number[]> {
  const statuses: number[] = []
  for (const id of cameras) {
    const time = (ms: number) => new Date(ms).toISOString()
    const range = `start=${time(Date.now() - 3600_000)}&end=${time(Date.now() - 1000)}`
    const { url } = (await server.request<{ url: string }>(`/v1/cameras/${id}/recording/stream/?${range}`)).json
    const { entries } = parsePlaylist((await server.request(url, { authorization: null })).text)
    for (const { uri, offset, bytes } of entries) {
      const headers = { range: `bytes=${offset}-${offset + bytes - 1}` }
      const { status } = await server.request(new URL(uri, url).href, { authorization: null, headers })
      statuses.push(status)
    }
  }
  return statuses
}

export const isWhole = (statuses: readonly number[]) =>
  statuses.length > 0 && statuses.every((status) => status === 206)
