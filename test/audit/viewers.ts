// Viewers that play recordings and watch live images while everything goes wrong. A recording may be away for the moment; the
// server must say so. Images may stop while the camera is away, and not for longer.

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

export type Watching = {
  readonly images: number
  /** How often the connection ended, and was opened again. */
  readonly ends: number
  readonly complaints: readonly string[]
}

const watchers = 2
/** Of a camera that is online meanwhile: longer than the server stands still whose connection it is, 40 s at most. */
const maxSilenceMs = 45_000

/** Watches MJPEG until the returned function is called. */
export function startWatching(server: HttpAccess, cameraIds: readonly number[], seed: number): () => Promise<Watching> {
  const http = openHttpReader(server)
  const random = createRandom(seed)
  const complaints: string[] = []
  let images = 0
  let ends = 0
  let isWatching = true
  type State = {
    readonly status: string
    readonly streams: readonly { readonly format: string; readonly url: string }[]
  }
  const read = (id: number) => http.getJson<State>(`/v1/cameras/${id}/`)
  const watch = async () => {
    const id = cameraIds[Math.floor(random() * cameraIds.length)]!
    const url = (await read(id)).streams.find(({ format }) => format === 'mjpeg')!.url
    let quietSinceMs = performance.now()
    const stream = http.openStream(url, (bytes) => {
      if (bytes.includes('Content-Type: image/jpeg')) images++
      quietSinceMs = performance.now()
    })
    for (const endMs = performance.now() + 90_000; isWatching && !stream.isEnded && performance.now() < endMs; ) {
      await sleep(1000)
      // A camera that is away, or of which nobody can be asked, has no images.
      const isOnline = await read(id).then(
        ({ status }) => status === 'online',
        () => false,
      )
      const quietMs = performance.now() - quietSinceMs
      if (!isOnline) quietSinceMs = performance.now()
      else if (quietMs > maxSilenceMs && !stream.isEnded) {
        const quiet = `${Math.round(quietMs / 1000)} s until ${new Date().toISOString()}`
        complaints.push(`no image of camera ${id} for ${quiet} on an open connection to ${url}`)
        break
      }
    }
    if (stream.isEnded) ends++
    stream.end()
  }
  const running = Array.from({ length: watchers }, async () => {
    while (isWatching) {
      await watch().catch(() => undefined)
      await sleep(pauseMs)
    }
  })
  return async () => {
    isWatching = false
    await Promise.all(running)
    http[Symbol.dispose]()
    return { images, ends, complaints }
  }
}

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
