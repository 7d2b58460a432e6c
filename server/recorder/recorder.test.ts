import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { syntheticFormat, syntheticStartMs } from '../../test/support/media/synthetic-frames.ts'
import {
  archiveDir,
  createRecorder,
  pushRun,
  settle,
  sum,
  take,
} from '../../test/support/recorder/temporary-recorder.ts'
import { leaseEpochOfPath } from '../archive/layout.ts'
import { scanSegmentFile } from '../archive/segment-scan.ts'

const ffprobe = '/usr/bin/ffprobe'
const skip = existsSync(ffprobe) ? false : `${ffprobe} is not installed`

test('every group of pictures becomes a fragment, and the file matches the events', async () => {
  const { recorder, events } = createRecorder()
  pushRun(recorder, 'a', { audioSampleRate: 44100 }, 10)
  await settle(recorder)
  await recorder.close()
  const [file] = events.files
  assert.equal(events.files.length, 1)
  assert.equal(file!.isClosed, true)
  assert.equal(file!.fragments.length, 10)
  assert.ok(
    file!.fragments.every(
      ({ isKey, duration90k, durationMs }) => isKey && duration90k === 90_000 && durationMs === 1000,
    ),
  )
  const scan = await scanSegmentFile(join(archiveDir, file!.segment.path))
  assert.deepEqual(scan.fragments, file!.fragments)
  assert.equal(scan.initBytes, file!.segment.initBytes)
  assert.equal(scan.bytes, scan.fileBytes)
  assert.deepEqual(events.statuses, ['CONNECTING', 'RECORDING', 'STOPPING', 'READY'])
})

test('what another server has recorded is not recorded again, unless the clock was set back', async () => {
  for (const [aheadMs, skippedMs] of [
    [2500, 3000],
    [3000, 3000],
    [60_000, 0],
  ] as const) {
    const { recorder, events } = createRecorder({ notBeforeMs: syntheticStartMs + aheadMs, leaseEpoch: 4 })
    pushRun(recorder, 'a', {}, 10)
    await recorder.close()
    const [file] = events.files
    assert.equal(file!.segment.startMs, syntheticStartMs + skippedMs)
    assert.equal(leaseEpochOfPath(file!.segment.path), 4)
    assert.equal(file!.fragments.length, 10 - skippedMs / 1000)
  }
})

test('a long group of pictures is split into parts that players cannot start at', async () => {
  const { recorder, events } = createRecorder({ maxFragmentMs: 1500 })
  pushRun(recorder, 'a', { gopFrames: 100 }, 8)
  await recorder.close()
  const { fragments } = events.files[0]!
  assert.deepEqual(
    fragments.map(({ isKey }) => isKey),
    [true, false, false, true, false, false],
  )
  assert.equal(sum(fragments.map(({ duration90k }) => duration90k)), 8 * 90_000)
  for (let i = 1; i < fragments.length; i++) {
    const before = fragments[i - 1]!
    assert.equal(fragments[i]!.start90k, before.start90k + before.duration90k)
    assert.equal(fragments[i]!.startMs, before.startMs + before.durationMs)
  }
})

test('files change at a key frame about once per minute without losing time or frames', { skip }, async () => {
  const { recorder, events } = createRecorder()
  const options = { audioSampleRate: 44100, gopFrames: 50, frameRate: 30, start90k: 1000 } as const
  pushRun(recorder, 'a', options, 200)
  await recorder.close()
  assert.ok(events.files.length >= 4 && events.files.length <= 5, `${events.files.length} files`)
  let end90k = 1000
  let endMs = syntheticStartMs
  const frames = { video: 0, audio: 0 }
  for (const { segment, fragments } of events.files) {
    assert.equal(segment.runStart90k, end90k)
    assert.equal(segment.startMs, endMs)
    assert.equal(segment.gapReason, undefined)
    assert.equal(fragments[0]!.isKey, true)
    end90k += sum(fragments.map(({ duration90k }) => duration90k))
    endMs = fragments.at(-1)!.startMs + fragments.at(-1)!.durationMs
    const { packets } = probe(segment.path)
    for (const kind of ['video', 'audio'] as const) {
      const times = packets.filter(({ codec_type }) => codec_type === kind).map(({ dts_time }) => Number(dts_time))
      frames[kind] += times.length
      assert.ok(times[0]! >= 0 && times[0]! < 0.03, `${kind} begins at ${times[0]}`)
      assert.ok(
        times.every((t, i) => i === 0 || t > times[i - 1]!),
        `${kind} increases strictly`,
      )
      if (kind === 'audio')
        assert.ok(times.every((t, i) => i === 0 || Math.abs(t - times[i - 1]! - 1024 / 44100) < 2e-6))
    }
  }
  assert.equal(end90k - 1000, 200 * 90_000)
  const all = [...take(options, 200)]
  assert.equal(frames.video, all.filter(({ kind }) => kind === 'video').length)
  // The first block arrives before the first video frame, where a file begins. Silence is in its place.
  assert.equal(frames.audio, all.filter(({ kind }) => kind === 'audio').length)
})

test('a new run begins a new file with the reason', async () => {
  const { recorder, events } = createRecorder({ startReason: 'server_down' })
  pushRun(recorder, 'a', {}, 3)
  pushRun(recorder, 'b', { width: 32, startMs: syntheticStartMs + 3000 }, 3)
  recorder.push({ kind: 'end', reason: 'camera_unreachable' })
  pushRun(recorder, 'c', { startMs: syntheticStartMs + 60_000 }, 3)
  await recorder.close()
  assert.deepEqual(
    events.files.map(({ segment, fragments }) => [segment.runId, segment.gapReason, fragments.length]),
    [
      ['a', 'server_down', 3],
      ['b', 'stream_changed', 3],
      ['c', 'camera_unreachable', 3],
    ],
  )
  assert.notEqual(events.files[0]!.segment.initHash, events.files[1]!.segment.initHash)
  assert.equal(events.files[0]!.segment.initHash, events.files[2]!.segment.initHash)
})

test('frames that are lost just before the stream changes are a loss, a short break there is the change', async () => {
  for (const [laterMs, reason] of [
    [1400, 'packet_loss'],
    [400, 'stream_changed'],
  ] as const) {
    const { recorder, events } = createRecorder({ startReason: 'server_down' })
    pushRun(recorder, 'a', {}, 3)
    const options = { width: 32, startMs: syntheticStartMs + 3000 + laterMs }
    recorder.push({ kind: 'start', runId: 'b', format: syntheticFormat(options) })
    for (const [i, frame] of [...take(options, 3)].entries())
      recorder.push(i === 0 && frame.kind === 'video' ? { ...frame, isAfterLoss: true } : frame)
    await recorder.close()
    assert.deepEqual(
      events.files.map(({ segment }) => segment.gapReason),
      ['server_down', reason],
    )
  }
})

test('a reader that joins within a group waits for the next key frame', async () => {
  const { recorder, events } = createRecorder()
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat() })
  for (const frame of [...take({}, 3)].slice(10)) recorder.push(frame)
  await recorder.close()
  assert.equal(events.files[0]!.segment.runStart90k, 90_000)
  assert.equal(recorder.stats().droppedFrames, 0)
})

test('setting the clock back does not overwrite a recording', async () => {
  const { recorder, events } = createRecorder()
  pushRun(recorder, 'a', {}, 2)
  pushRun(recorder, 'b', {}, 2)
  await recorder.close()
  assert.equal(new Set(events.files.map(({ segment }) => segment.path)).size, 2)
})

test('audio without video holds no memory', async () => {
  const { recorder } = createRecorder()
  recorder.push({ kind: 'start', runId: 'a', format: syntheticFormat({ audioSampleRate: 8000 }) })
  for (const frame of take({ audioSampleRate: 8000 }, 20)) if (frame.kind === 'audio') recorder.push(frame)
  assert.equal(recorder.stats().pendingBytes, 0)
  await recorder.close()
  await assert.rejects(stat(join(archiveDir, 'cameras/0')))
})

type Packet = { codec_type: string; dts_time: string }

function probe(path: string): { packets: Packet[] } {
  const args = '-v error -show_entries packet=codec_type,dts_time -of json'.split(' ')
  return JSON.parse(String(execFileSync(ffprobe, [...args, join(archiveDir, path)])))
}

test('the end of recording is reported even if recording never resumed after an earlier end', async () => {
  const { recorder, events } = createRecorder({ startReason: 'stopped_by_user' })
  await recorder.close()
  assert.deepEqual(events.gaps, ['stopped_by_user', 'stopped_by_user'])
})
