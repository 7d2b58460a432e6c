// Asks for what viewers ask for, at random places of a month.

import { parsePlaylist } from '../../test/playback/parse-playlist.ts'
import type { ServerProcess } from '../../test/server-under-test.ts'
import { readMainThreadCpuMs } from '../process-usage.ts'
import type { Generated } from './generate-archive.ts'
import type { TimedAnswer, TimedClient } from './timed-client.ts'

export type Target = {
  readonly server: ServerProcess
  readonly client: TimedClient
  readonly cameraIds: readonly number[]
  readonly generated: Generated
  readonly random: () => number
  readonly say: (text: string) => void
}

/** Milliseconds of each request, or row of requests. */
export type IndexResult = {
  readonly meMs: number[]
  readonly infoMs: number[]
  readonly timelineMs: number[]
  /** Of the server's thread that answers, for each timeline. */
  readonly timelineCpuMs: number[]
  readonly playlistMs: number[]
  readonly firstByteMs: number[]
  readonly seekMs: number[]
  readonly endlessMs: number[]
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const warmUps = 100
const timelines = 1000
const streams = 300
const seeksEach = 2
const endless = 300

export async function measureIndex(target: Target): Promise<IndexResult> {
  const { say } = target
  const result: IndexResult = {
    ...{ meMs: [], infoMs: [], timelineMs: [], timelineCpuMs: [], playlistMs: [] },
    ...{ firstByteMs: [], seekMs: [], endlessMs: [] },
  }
  for (let i = 0; i < warmUps; i++) await askTimeline(target)
  say('Timelines …')
  for (let i = 0; i < timelines; i++) {
    const cpuMs = readMainThreadCpuMs(target.server.pid)
    result.timelineMs.push(await askTimeline(target))
    result.timelineCpuMs.push(readMainThreadCpuMs(target.server.pid) - cpuMs)
    result.meMs.push((await ask(target, '/v1/me/')).totalMs)
    const info = await ask(target, `/v1/cameras/${pickCamera(target)}/recording/`)
    result.infoMs.push(info.totalMs)
  }
  for (let i = 0; i < warmUps / 5; i++)
    await playHour(target, { ...result, playlistMs: [], firstByteMs: [], seekMs: [] })
  say('Recorded streams …')
  for (let i = 0; i < streams; i++) await playHour(target, result)
  for (let i = 0; i < endless; i++) result.endlessMs.push((await openStream(target, undefined)).tookMs)
  return result
}

/** A day of a camera that is in the month. Returns how long it took, milliseconds. */
export async function askTimeline(target: Target): Promise<number> {
  const startMs = pickMoment(target, dayMs)
  const path = `/v1/cameras/${pickCamera(target)}/recording/timeline/?start=${time(startMs)}&end=${time(startMs + dayMs)}`
  const { totalMs, body } = await ask(target, path)
  const { segments, gaps } = JSON.parse(body.toString()) as { segments: unknown[]; gaps: unknown[] }
  if (segments.length < 1 || gaps.length < 1) throw new Error(`expected footage and a gap: ${body}`)
  return totalMs
}

async function playHour(target: Target, result: IndexResult): Promise<void> {
  const begunMs = performance.now()
  const { url, entries, tookMs } = await openStream(target, hourMs)
  result.playlistMs.push(tookMs)
  const [first] = entries
  const map = /URI="([^"]+)",BYTERANGE="(\d+)@(\d+)"/.exec(first!.tags.find((tag) => tag.startsWith('#EXT-X-MAP'))!)!
  await fetchBytes(target, new URL(map[1]!, url), Number(map[3]), Number(map[2]))
  const beforeMs = performance.now() - begunMs
  const picture = await fetchBytes(target, new URL(first!.uri, url), first!.offset, first!.bytes)
  result.firstByteMs.push(beforeMs + picture.firstByteMs)
  for (let i = 0; i < seeksEach; i++) {
    const entry = entries[Math.floor(target.random() * entries.length)]!
    const answer = await fetchBytes(target, new URL(entry.uri, url), entry.offset, entry.bytes)
    result.seekMs.push(answer.totalMs)
  }
}

/** `lengthMs` undefined: without end. */
async function openStream(target: Target, lengthMs: number | undefined) {
  const startMs = pickMoment(target, lengthMs ?? dayMs)
  const end = lengthMs === undefined ? '' : `&end=${time(startMs + lengthMs)}`
  const path = `/v1/cameras/${pickCamera(target)}/recording/stream/?start=${time(startMs)}${end}`
  const created = await ask(target, path)
  const { url } = JSON.parse(created.body.toString()) as { url: string }
  const playlist = await target.client.get(url)
  const { entries } = parsePlaylist(playlist.body.toString())
  if (playlist.status !== 200 || entries.length === 0) throw new Error(`expected a playlist, got ${playlist.body}`)
  return { url, entries, tookMs: created.totalMs + playlist.totalMs }
}

async function fetchBytes(target: Target, url: URL, offset: number, bytes: number): Promise<TimedAnswer> {
  const answer = await target.client.get(url.href, { range: `bytes=${offset}-${offset + bytes - 1}` })
  if (answer.status !== 206 || answer.body.length !== bytes) throw new Error(`expected ${bytes} bytes of ${url}`)
  return answer
}

async function ask({ server, client }: Target, path: string): Promise<TimedAnswer> {
  const answer = await client.get(new URL(path, server.url).href, {
    authorization: `PersonalAccessToken ${server.token}`,
  })
  if (answer.status !== 200) throw new Error(`${path}: expected 200, got ${answer.status}: ${answer.body}`)
  return answer
}

function pickCamera({ cameraIds, random }: Target): number {
  return cameraIds[Math.floor(random() * cameraIds.length)]!
}

/** Such that so much follows within the month. */
function pickMoment({ generated, random }: Target, lengthMs: number): number {
  const { startMs, endMs } = generated
  return Math.floor((startMs + random() * (endMs - startMs - lengthMs)) / 1000) * 1000
}

const time = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')
