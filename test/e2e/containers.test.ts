// Cameras that send a container over HTTP, each played by FFmpeg: what third-party players see live, that every frame
// is recorded even if the process of one of them is killed, and what stream detection reports.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Camera } from '../../contract/camera.ts'
import { eventually, openServer } from '../server-under-test.ts'
import { type FfmpegCamera, openFfmpegCamera } from './ffmpeg-camera.ts'
import { checkIncreasing, checkShown, decode, type ProbedStream, probe, withoutDiscontinuities } from './media-probe.ts'

type Detection = {
  type: string | null
  transport: string | null
  video: { width: number; height: number } | null
  audio: { codec: string } | null
  problem: { code: string; detail: string } | null
}

const fps = 15
const liveSeconds = 6
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15']
const h265 = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error:keyint=15:pools=1']

const cases = [
  {
    ...{ name: 'transport stream', type: 'h264', video: 'h264', audio: 'aac', isTimed: true, content: 'video/mp2t' },
    output: [...h264, '-bf', '2', '-c:a', 'aac', '-f', 'mpegts'],
  },
  {
    ...{ name: 'flv', type: 'h264', video: 'h264', audio: 'aac', isTimed: true, content: 'video/x-flv' },
    output: [...h264, '-c:a', 'aac', '-f', 'flv'],
  },
  {
    ...{ name: 'matroska', type: 'h265', video: 'hevc', audio: 'opus', isTimed: true, content: '' },
    output: [...h265, '-c:a', 'libopus', '-f', 'matroska'],
  },
  {
    ...{ name: 'bare', type: 'h264', video: 'h264', audio: undefined, isTimed: false },
    ...{ content: 'application/octet-stream', output: [...h264, '-bf', '0', '-f', 'h264'] },
  },
]

/** If the next group begins before a new viewer has taken the current one, the rest of that group is skipped. */
function withoutFirstGroup(stream: ProbedStream): ProbedStream {
  const second = stream.packets.findIndex(({ isKey }, i) => isKey && i > 0)
  assert.ok(second > 0)
  return { ...stream, packets: stream.packets.slice(second) }
}

/** Frames without timestamps have their arrival time, and some arrive late on a busy machine. */
function complaintsOf({ complaints }: { complaints: string }, isTimed: boolean): string {
  return isTimed ? complaints : withoutDiscontinuities(complaints)
}

test('containers over HTTP are detected, shown and recorded completely, and recover when their process dies', async () => {
  await using opened = new AsyncDisposableStack()
  const transport = { fps, output: [...h264, '-f', 'mpegts'], type: 'video/mp2t', isLasting: true }
  const lasting = opened.use(await openFfmpegCamera(transport))
  const old = opened.use(await openFfmpegCamera({ ...transport, output: ['-c:v', 'mpeg4', '-f', 'mpegts'] }))
  const sources = new Map<string, FfmpegCamera>()
  for (const { name, output, content } of cases) {
    sources.set(name, opened.use(await openFfmpegCamera({ fps, output, type: content })))
  }
  const server = opened.use(await openServer())
  const ids = new Map<string, number>()
  const read = async (name: string) => (await server.request<Camera>(`/v1/cameras/${ids.get(name)}/`)).json
  const isOnline = async (name: string) => (await read(name)).status === 'online'
  const add = async (name: string, url: string, type?: string) => {
    const body = { name, url, ...(type !== undefined && { type }) }
    const { json, text } = await server.request<{ id: number }>('/v1/cameras/', { method: 'POST', body })
    assert.ok(json.id, text)
    ids.set(name, json.id)
    const path = `/v1/cameras/${json.id}/recording/`
    assert.equal((await server.request(path, { method: 'POST', body: { retention: 'P7D' } })).status, 201)
  }
  const detect = async (url: string) => {
    const path = '/v1/cameras/stream-detection/'
    return (await server.request<Detection>(path, { method: 'POST', body: { url } })).json
  }

  const found = await detect(lasting.url)
  const { width, height } = found.video!
  assert.deepEqual([found.type, found.transport, width, height], ['h264', 'http_stream', 320, 240])
  const { problem } = await detect(old.url)
  assert.equal(problem?.code, 'unsupported')
  assert.match(problem.detail, /MPEG-4 Visual video, which is not supported: set this stream to H\.264/)

  // Its type is detected, because none is given.
  await add('lasting', lasting.url)
  assert.equal((await read('lasting')).type, 'h264')
  await eventually('the camera is online', 30_000, () => isOnline('lasting'))
  const first = await eventually('its process alone', 20_000, async () => {
    const pids = await listContainerProcesses(server.pid)
    return pids.length === 1 && pids[0]
  })
  for (const { name, type } of cases) await add(name, sources.get(name)!.url, type)
  for (const { name } of cases) await eventually(`${name} is online`, 30_000, () => isOnline(name))

  process.kill(first, 'SIGKILL')
  await Promise.all(
    cases.map(async ({ name, type, video, audio, isTimed }) => {
      const camera = await read(name)
      assert.deepEqual([camera.type, camera.audio_enabled], [type, audio !== undefined], name)
      const { url } = camera.streams.find(({ format }) => format === 'mp4')!
      const seen = await probe(url, { seconds: liveSeconds })
      assert.deepEqual([seen.video?.codec, seen.audio?.codec, complaintsOf(seen, isTimed)], [video, audio, ''], name)
      checkIncreasing(seen.video!, Number.POSITIVE_INFINITY)
      // An encoder that gets no CPU time leaves frames out.
      if (isTimed) checkShown(withoutFirstGroup(seen.video!), 1)
    }),
  )
  await eventually('another process, and frames from it', 60_000, async () => {
    const pids = await listContainerProcesses(server.pid)
    return pids.length === cases.length + 1 && !pids.includes(first) && (await isOnline('lasting'))
  })
  // The camera reconnects at once, so it is not reported as offline in between.
  await eventually('the new connection is counted', 20_000, async () => {
    const path = `/v1/cameras/${ids.get('lasting')}/statistics/`
    return (await server.request<{ connections: number }>(path)).json.connections === 2
  })

  for (const [name, source] of sources) {
    source.end()
    await eventually(`${name} has ended`, 30_000, async () => source.sent().ended)
    await eventually(`${name} is offline`, 60_000, async () => (await read(name)).status === 'offline')
  }
  assert.equal(await server.stop(), 0)
  for (const { name, video, audio, isTimed } of cases) {
    const files = globSync(join(server.dataDir, `archive/cameras/${ids.get(name)}/**/*.mp4`)).sort()
    let count = 0
    for (const file of files) {
      const seen = await probe(file)
      assert.deepEqual([seen.video?.codec, seen.audio?.codec, complaintsOf(seen, isTimed)], [video, audio, ''], name)
      checkIncreasing(seen.video!, isTimed ? 1 : Number.POSITIVE_INFINITY)
      count += seen.video!.packets.length
      await decode(file)
    }
    assert.equal(count, sources.get(name)!.sent().frames, `${name}: frames in ${files.length} files`)
  }
})

/** Child processes of the server that demultiplex containers. */
async function listContainerProcesses(serverPid: number): Promise<number[]> {
  const list = promisify(execFile)('ps', ['-o', 'pid=,args=', '--ppid', String(serverPid)])
  const { stdout } = await list.catch(() => ({ stdout: '' })) // it has none yet
  const lines = stdout.split('\n').filter((line) => line.includes('container-process.ts'))
  return lines.map((line) => Number.parseInt(line, 10))
}
