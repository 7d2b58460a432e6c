// Random cameras whose footage must be complete: every frame once, at its time, with its audio, or in a reported gap.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkArchive, isClean } from '../../server/archive/check.ts'
import { Playback } from '../../server/playback/playback.ts'
import { onePlace } from '../support/archive/one-place.ts'
import { MemoryStreamRows } from '../support/playback/memory-stream-rows.ts'
import { type Mix, RandomFootage } from './random-footage.ts'
import { judgeStream, judgeTimeline } from './read-footage.ts'
import { StreamPlayer } from './stream-player.ts'

const mixes: Record<string, { readonly mix: Mix; readonly seeds: readonly number[]; readonly isClockSteady: boolean }> =
  {
    'losses and pauses': {
      mix: { loss: 3, pause: 3, audio: 2, rate: 1 },
      seeds: [13, 17, 23, 29],
      isClockSteady: true,
    },
    'runs of other formats': {
      mix: { loss: 2, pause: 2, audio: 2, rate: 1, format: 3, end: 2, restart: 1 },
      seeds: [2, 21, 30],
      isClockSteady: true,
    },
    'clocks that are set': {
      mix: { loss: 2, pause: 1, audio: 1, format: 1, end: 1, clock: 3 },
      seeds: [5, 16, 18, 20],
      isClockSteady: false,
    },
  }
const user = { cameraId: 1, userId: 7, credential: { kind: 'personal', id: 3 } } as const

for (const [name, { mix, seeds, isClockSteady }] of Object.entries(mixes)) {
  test(`every frame is played once and at its time: ${name}`, async () => {
    for (const seed of seeds) {
      await using footage = new RandomFootage(seed, mix)
      await footage.record(12)
      const { catalog, clock, rows, archiveDir, sent, marks } = footage
      clock.steadyMs += 60_000
      const playback = new Playback({
        catalog,
        clock,
        streams: new MemoryStreamRows(),
        publicUrl: 'https://nightjar.test',
        nodeName: 'node-1',
        canView: async () => true,
        isLive: () => true,
        listGapMarks: async (_, startMs, endMs) =>
          marks.filter(({ atMs }, i) => atMs <= endMs && (marks[i + 1]?.atMs ?? endMs + 1) > startMs),
      })
      const bounds = (await catalog.bounds(1))!
      const range = { startMs: bounds.startMs - 1000, endMs: bounds.endMs + 1000 }
      const { id } = await playback.createStream({ ...user, ...range, isRecording: false })
      const { faults, shown } = judgeStream(await new StreamPlayer(playback, id).play(), sent)
      const timeline = await playback.timeline(1, range.startMs, range.endMs)
      faults.push(...judgeTimeline(timeline, shown, sent, isClockSteady))
      assert.deepEqual(faults, [], `seed ${seed}`)
      assert.ok(
        isClean(await checkArchive({ rows, places: onePlace(archiveDir), clock, isDeep: true })),
        `seed ${seed}`,
      )
    }
  })
}
