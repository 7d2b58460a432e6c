import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { StreamPlayer } from '../../test/playback/stream-player.ts'
import { MemorySegmentRows } from '../../test/support/archive/memory-segment-rows.ts'
import { onePlace } from '../../test/support/archive/one-place.ts'
import { syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'
import { Catalog } from '../archive/catalog.ts'
import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/log.ts'
import type { Fragment } from '../model/segment.ts'
import type { OpenSegment } from '../model/segment-views.ts'
import { StreamPart } from './stream-part.ts'

const hourMs = 3_600_000
const groupMs = 20_000
const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const

/** A recorded group of pictures; `epoch` is the number of times that the clock was set back before it. */
type Recorded = { readonly startMs: number; readonly endMs: number; readonly key: string; readonly epoch: number }

/** Records groups of 20 s in files of a minute. No files are written, only the reports of the recorder. */
class Camera {
  readonly recorded: Recorded[] = []
  readonly #rows = new MemorySegmentRows()
  #nowMs = t0
  #runs = 0
  #epoch = 0
  catalog = this.#open()

  #open(): Catalog {
    return new Catalog({ rows: this.#rows, places: onePlace('/nowhere'), clock: systemClock, log: silentLogger })
  }

  async record(minutes: number, gapReason?: string): Promise<void> {
    const runId = `run ${++this.#runs}`
    for (let i = 0; i < minutes; i++) {
      const path = `${this.#runs}-${i}.mp4`
      const startMs = this.#nowMs
      const opened: OpenSegment = {
        ...{ cameraId: 1, runId, runStart90k: i * 60 * 90_000, placeId: 1, path, startMs, initBytes: 100 },
        ...{ codecs: 'avc1', width: 64, height: 48, initHash: 'init' },
        gapReason: i === 0 ? gapReason : undefined,
      }
      this.catalog.segmentOpened(opened)
      await this.catalog.flush(1)
      for (let n = 0; n < 3; n++) {
        const fragment: Fragment = {
          ...{ offset: 100 + n * 1000, bytes: 1000, start90k: n * 20 * 90_000, duration90k: 20 * 90_000 },
          ...{ startMs: this.#nowMs, durationMs: groupMs, isKey: true },
        }
        this.catalog.fragmentWritten(1, path, fragment)
        const endMs = this.#nowMs + groupMs
        this.recorded.push({ startMs: this.#nowMs, endMs, key: `${path} ${fragment.offset}`, epoch: this.#epoch })
        this.#nowMs = endMs
      }
      this.catalog.segmentClosed(1, path, 1)
      await this.catalog.flush(1)
    }
  }

  set(stepMs: number): void {
    this.#nowMs += stepMs
    if (stepMs < 0) this.#epoch++
  }

  restart(): void {
    this.catalog = this.#open()
  }
}

const step = fc.record({
  minutes: fc.integer({ min: 1, max: 4 }),
  stepMs: fc.oneof(
    fc.constantFrom(0, 0, 2100, -2100, -hourMs, hourMs, -240 * hourMs, 240 * hourMs),
    fc.integer({ min: -600, max: 600 }).map((seconds) => (Math.abs(seconds) <= 2 ? 0 : seconds * 1000)),
  ),
  isRestart: fc.boolean(),
})

test('any range plays each frame once per recording, in recording order and never interleaved', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 7 }),
      fc.nat(100),
      fc.nat(400_000),
      fc.boolean(),
      async (steps, at, lengthMs, isGrowing) => {
        const camera = new Camera()
        await camera.record(2)
        const { startMs } = camera.recorded[at % camera.recorded.length]!
        const fromMs = startMs + 5000
        const toMs = isGrowing ? undefined : fromMs + lengthMs
        const origin = {
          ...{ startMs: fromMs, speed: 1, part: 0, sequence: 0, discontinuities: 0, position90k: 0, axis90k: 0 },
          ...{ isDiscontinuity: false, shortEntries: 0 },
        }
        const growing = new StreamPart(origin, toMs, toMs === undefined ? undefined : fromMs)
        const addFootage = async (part: StreamPart) => {
          const bounds = (await camera.catalog.bounds(1))!
          await part.addFootage(camera.catalog, 1, bounds, () => false)
        }
        for (const { minutes, stepMs, isRestart } of steps) {
          if (stepMs !== 0) camera.set(stepMs)
          if (isRestart) camera.restart()
          await camera.record(minutes, stepMs === 0 ? undefined : 'clock_set')
          if (isGrowing) await addFootage(growing)
        }
        await addFootage(growing)
        growing.finish()
        const shown = growing.entries.entries.flatMap(({ segmentId, offset, bytes }) =>
          Array.from({ length: bytes / 1000 }, (_, i) => `${segmentId} ${offset + i * 1000}`),
        )
        const files = new Map<string, number>()
        for (const { key } of camera.recorded) {
          const [path = ''] = key.split(' ')
          if (!files.has(path)) files.set(path, files.size + 1)
        }
        // Footage of the first epoch in the range, and of later epochs; without an end, everything of the later ones.
        const expected = camera.recorded.filter(({ startMs, endMs, epoch }) => {
          if (toMs === undefined) return epoch > 0 || endMs > fromMs
          return endMs > fromMs && startMs < toMs
        })
        const names = expected.map(({ key }) => {
          const [path = '', offset] = key.split(' ')
          return `${files.get(path)} ${offset}`
        })
        assert.deepEqual(shown, names)
      },
    ),
    { numRuns: 150 },
  )
})

test('a clock that was set back gives one discontinuity in the playlist and both epochs with the reason in the timeline', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 120)
  // At 120 s the clock is set back by 90 s.
  await scene.record(30, 60)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: t0 + 20_000, endMs: t0 + 60_000, isRecording: false })
  const player = new StreamPlayer(playback, id)
  const { entries } = await player.load()
  const seams = entries.flatMap(({ discontinuity, dateMs }, i) =>
    discontinuity !== (entries[i - 1]?.discontinuity ?? 0) ? [dateMs! - t0] : [],
  )
  assert.deepEqual(seams, [30_000], 'one, at the start of the second epoch')
  const seconds = entries.reduce((sum, entry) => sum + entry.seconds, 0)
  assert.ok(Math.abs(seconds - 70) <= 4, `40 s of the first epoch and 30 s of the second, got ${seconds}`)
  await player.fetch(100)

  const { segments, gaps } = await playback.timeline(1, t0, t0 + 120_000)
  const rounded = segments.map(({ startMs, endMs }) => [(startMs - t0) / 1000, (endMs - t0) / 1000])
  assert.deepEqual(rounded, [
    [0, 120],
    [30, 59],
  ])
  assert.deepEqual(gaps, [{ startMs: t0 + 120_000, endMs: t0 + 120_000, reason: 'clock_set' }])
  const within = await playback.timeline(1, t0 + 40_000, t0 + 50_000)
  assert.equal(within.segments.length, 2)
})

test('a stream whose speed is changed in the second epoch continues there', async () => {
  await using scene = new FootageScene()
  await scene.record(0, 120)
  await scene.record(30, 80)
  const playback = scene.playback()
  const { id } = await playback.createStream({ ...user, startMs: t0, endMs: t0 + 120_000, isRecording: false })
  const player = new StreamPlayer(playback, id)
  const { entries } = await player.load()
  await player.fetch(entries.findIndex(({ discontinuity }) => discontinuity > 0) + 3)
  const { currentMs } = await playback.getStreamInfo(id, 7)
  assert.ok(currentMs >= t0 + 30_000 && currentMs < t0 + 50_000, 'in the second epoch')
  await playback.setSpeed(id, 4)
  const faster = new StreamPlayer(playback, id)
  faster.speed = 4
  const after = (await faster.load()).entries
  const dates = after.flatMap(({ dateMs }) => (dateMs === undefined ? [] : [dateMs]))
  assert.ok(Math.min(...dates) > currentMs, 'nothing of the first epoch is repeated')
  assert.ok(Math.max(...dates) >= t0 + 55_000 && Math.max(...dates) < t0 + 80_000)
})
