// A disk that turns, or a NAS: each read takes 10 ms.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { fillArchive } from '../../bench/archive/generate-archive.ts'
import { delayReads } from '../faults/traced-calls.ts'
import { openServer } from '../server-under-test.ts'

const hourMs = 3_600_000

test('a download of three hours begins soon and arrives whole', async () => {
  await using server = await openServer('--log-level', 'warn', '--min-free', '0')
  const doomed = { cameras: 0, lengthMs: 0 }
  const picture = { width: 64, height: 48 }
  const { ids, generated } = await fillArchive(server, { cameras: 1, days: 1, doomed, picture, say: () => {} })
  await server.start()
  const time = (ms: number) => new Date(ms).toISOString()
  const createUrl = async (startMs: number) => {
    const path = `/v1/cameras/${ids[0]}/recording/stream/?start=${time(startMs)}&end=${time(startMs + 3 * hourMs)}`
    const { json } = await server.request<{ url: string }>(path)
    return json.url.replace('hls/playlist.m3u8', 'download.mp4')
  }
  const download = async (url: string) => {
    const begunMs = performance.now()
    return new Promise<{ firstByteMs: number; bytes: number; hash: string }>((resolve, reject) => {
      const outgoing = request(url, { ca: server.ca, agent: false }, (response) => {
        const hash = createHash('sha256')
        let [firstByteMs, bytes] = [0, 0]
        response.on('data', (chunk: Buffer) => {
          firstByteMs ||= performance.now() - begunMs
          bytes += chunk.length
          hash.update(chunk)
        })
        response.on('end', () => {
          if (bytes !== Number(response.headers['content-length'])) reject(new Error(`${bytes} bytes came`))
          else resolve({ firstByteMs, bytes, hash: hash.digest('hex') })
        })
        response.on('error', reject)
      })
      outgoing.on('error', reject)
      outgoing.end()
    })
  }
  const folder = join(server.dataDir, 'archive', 'cameras', String(ids[0]))
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.mp4')).sort()
  const files = names.map((name) => join(folder, name))
  const startMs = generated.startMs + 6 * hourMs
  const url = await createUrl(startMs)
  const slow = await (async () => {
    // Those of the range and some around it.
    await using _ = await delayReads(server.pid, files.slice(5 * 60, 10 * 60), 10)
    return await download(url)
  })()
  // 0.6 s when nothing else runs. A read for each of the 10,800 fragments took two minutes.
  assert.ok(slow.firstByteMs < 60_000, `${slow.firstByteMs} ms`)
  assert.ok(slow.bytes > 10_000_000)
  const fast = await download(url)
  assert.deepEqual([fast.bytes, fast.hash], [slow.bytes, slow.hash])
})
