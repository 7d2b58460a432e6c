// Viewers that play recordings while everything goes wrong. A recording may be away for the moment; the server must say so.

import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../fake-camera/scene/random.ts'
import { type HttpAccess, openHttpReader } from './http-reader.ts'
import { parseSections } from './playlist-sections.ts'

export type Viewing = {
  /** Parts of recordings that were played. */
  readonly played: number
  /** How often a recording could not be played, by the server's own word or because it was down. */
  readonly away: Readonly<Record<string, number>>
  /** Other answers. */
  readonly complaints: readonly string[]
}

const viewers = 3
const pauseMs = 300
/** Of one playlist. */
const parts = 5

/** Plays until the returned function is called. */
export function startViewing(server: HttpAccess, cameraIds: readonly number[], seed: number): () => Promise<Viewing> {
  const http = openHttpReader(server)
  const random = createRandom(seed)
  const complaints = new Set<string>()
  const away: Record<string, number> = {}
  let played = 0
  let isViewing = true
  const view = async () => {
    const id = cameraIds[Math.floor(random() * cameraIds.length)]!
    const path = `/v1/cameras/${id}/recording`
    type Bounds = { readonly recording_start: string | null; readonly recording_end: string | null }
    const { recording_start: first, recording_end: last } = await http.getJson<Bounds>(`${path}/`)
    if (first === null || last === null) return
    const startMs = Date.parse(first) + random() * (Date.parse(last) - Date.parse(first))
    const range = [startMs, startMs + 120_000].map((ms) => new Date(ms).toISOString())
    const { url } = await http.getJson<{ url: string }>(`${path}/stream/?start=${range[0]}&end=${range[1]}`)
    const { sections } = parseSections((await http.getBytes(url)).toString(), url)
    for (const entry of sections.flatMap(({ entries }) => entries).slice(0, parts)) {
      await http.getBytes(entry.url, entry.range)
      played++
    }
  }
  const running = Array.from({ length: viewers }, async () => {
    while (isViewing) {
      await view().catch(({ message }: Error) => {
        const [, status, text] = /: (\d{3}) (.*), not \d{3}$/s.exec(message) ?? []
        // 404: there is no footage in the range, or retention has deleted it since.
        const reason = status ?? message.replace(/^\S+: /, '')
        if (status === undefined || status === '503' || status === '404') away[reason] = (away[reason] ?? 0) + 1
        else complaints.add(`a viewer was answered ${status}: ${text}`)
      })
      await sleep(pauseMs)
    }
  })
  return async () => {
    isViewing = false
    await Promise.all(running)
    http[Symbol.dispose]()
    return { played, away, complaints: [...complaints] }
  }
}
