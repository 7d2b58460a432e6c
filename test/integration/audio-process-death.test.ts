// The process that encodes telephone audio is killed under a running server: there is a moment of silence, and no frame
// is lost.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Camera } from '../../contract/camera.ts'
import { probe } from '../e2e/media-probe.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { listFrameCounters } from '../fake-camera/frame-counter.ts'
import { eventually, openServer } from '../server-under-test.ts'

/** Child processes of the server that encode audio. */
async function listAudioProcesses(serverPid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=,args=', '--ppid', String(serverPid)])
  const lines = stdout.split('\n').filter((line) => line.includes('audio-process.ts'))
  return lines.map((line) => Number.parseInt(line, 10))
}

test('no frame is lost when the audio process dies, and audio resumes', async () => {
  const format = { width: 320, height: 180, framesPerSecond: 15, gopFrames: 15 }
  await using camera = await openFakeCamera({ streams: [{ name: 'door', ...format, audio: 'pcma' }] })
  await using server = await openServer()
  const id = await server.addCamera('door', camera.url('door'), '--record', 'P1D')
  await eventually('the camera is online with audio', 30_000, async () => {
    const { status, audio_enabled } = (await server.request<Camera>(`/v1/cameras/${id}/`)).json
    return status === 'online' && audio_enabled
  })
  const [first, ...others] = await eventually('an audio process', 20_000, async () => {
    const pids = await listAudioProcesses(server.pid)
    return pids.length > 0 && pids
  })
  assert.deepEqual(others, [], 'one process for the only worker that needs it')
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const killedMs = Date.now()
  process.kill(first!, 'SIGKILL')
  await eventually('another audio process', 30_000, async () => {
    const [next] = await listAudioProcesses(server.pid)
    return next !== undefined && next !== first
  })
  await new Promise((resolve) => setTimeout(resolve, 4000))
  assert.equal(await server.stop(), 0)
  assert.match(server.log(), /the audio process was lost/)

  const files = globSync(join(server.dataDir, `archive/cameras/${id}/**/*.mp4`)).sort()
  const counters = files.flatMap((file) => listFrameCounters(readFileSync(file)))
  const numbers = counters.map(({ frameNumber }) => frameNumber)
  assert.deepEqual(
    numbers,
    numbers.map((_, i) => numbers[0]! + i),
  )
  assert.ok(counters.at(-1)!.unixMs > killedMs + 2000, 'there are frames until the end')
  const { video, audio, complaints } = await probe(files.at(-1)!)
  assert.equal(complaints, '')
  const endOf = (packets: readonly { ptsSeconds: number }[]) => packets.at(-1)!.ptsSeconds
  assert.ok(audio, 'there is audio at the end')
  assert.ok(endOf(video!.packets) - endOf(audio.packets) < 1, 'the audio track has no hole at the end')
  const sizes = ['-v', 'error', '-select_streams', 'a', '-show_entries', 'packet=size', '-of', 'csv=p=0', files.at(-1)!]
  const { stdout } = await promisify(execFile)('ffprobe', sizes)
  // Silent blocks have six bytes.
  const last = stdout.trim().split('\n').slice(-30).map(Number)
  assert.ok(Math.max(...last) > 50, `audio again at the end: ${last}`)
})
