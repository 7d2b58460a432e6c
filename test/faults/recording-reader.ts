// What the interface tells of recordings, asked often: one connection is kept for all questions.

import { Agent, request } from 'node:https'
import type { ServerUnderTest } from '../server-under-test.ts'

export type Gap = { readonly start: string; readonly end: string; readonly reason: string }

export type RecordingReader = Disposable & {
  /** Newest footage, Unix milliseconds. */
  readEnd(cameraId: number): Promise<number | undefined>
  /** Up to now. */
  readGaps(cameraId: number, sinceMs: number): Promise<Gap[]>
}

export function openRecordingReader({ url, ca, token }: ServerUnderTest): RecordingReader {
  const agent = new Agent({ keepAlive: true, maxSockets: 4, ca })
  const get = <T>(path: string): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const asked = request(new URL(path, url), { agent, headers: { authorization: `PersonalAccessToken ${token}` } })
    asked.on('error', reject)
    asked.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve(JSON.parse(text) as T)
        else reject(new Error(`${path}: ${response.statusCode} ${text}`))
      })
    })
    asked.end()
    return promise
  }
  const time = (ms: number) => new Date(ms).toISOString()
  return {
    async readEnd(cameraId) {
      const { recording_end } = await get<{ recording_end: string | null }>(`/v1/cameras/${cameraId}/recording/`)
      return recording_end === null ? undefined : Date.parse(recording_end)
    },
    async readGaps(cameraId, sinceMs) {
      const range = `start=${time(sinceMs)}&end=${time(Date.now())}`
      return (await get<{ gaps: Gap[] }>(`/v1/cameras/${cameraId}/recording/timeline/?${range}`)).gaps
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}
