import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type CheckedPlaylist, checkNextPlaylist, checkPlaylist } from '../../test/playback/check-playlist.ts'
import { init, marker, media, setUp } from '../../test/support/live/live-scene.ts'
import { settle } from '../../test/support/test-clock.ts'
import { type LiveChunk, minSegmentMs } from './live-chunk.ts'
import { PartRhythm } from './part-rhythm.ts'

const urlOf = (name: string) => `hls/${name}?t`

type Step =
  | { readonly kind: 'group'; readonly partsMs: readonly number[] }
  | { readonly kind: 'gap' | 'run'; readonly awayMs: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('group' as const),
        partsMs: fc.array(fc.constantFrom(400, 1000, 2000, 2400), { minLength: 1, maxLength: 5 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom('gap' as const, 'run' as const), awayMs: fc.nat(20_000) }),
    },
  ),
  { minLength: 1, maxLength: 40 },
)

test('a live playlist keeps to the rules of HLS, and so does each next one, whatever the camera sends', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const { live, send, clock } = setUp()
      const first = live.camera(1).hlsPlaylist(urlOf)
      await settle()
      let id = 0
      let wallMs = 1_800_000_000_000
      let before: CheckedPlaylist | undefined
      const look = async (text: string) => {
        const next = checkPlaylist(text)
        assert.deepEqual(next.faults, [], text)
        if (before) assert.deepEqual(checkNextPlaylist(before, next), [], text)
        // Nothing leaves a list that would be shorter than three target durations without it. RFC 8216 6.2.2.
        const hasLost = before && next.entries[0]!.sequence > before.entries[0]!.sequence
        const seconds = next.entries.reduce((sum, entry) => sum + entry.seconds, 0)
        if (hasLost) assert.ok(seconds >= 3 * next.targetSeconds, text)
        before = next
      }
      const chunk = (durationMs: number, isKey: boolean, endsGroup: boolean): LiveChunk => {
        const sent = { ...media(id++, isKey, 10), wallMs, durationMs, endsGroup }
        wallMs += durationMs
        return sent
      }
      // Enough for the first playlist to be given.
      send('hls', init(Uint8Array.of(0)), chunk(2000, true, true), chunk(2000, true, true), chunk(2000, true, true))
      await look(await first)
      for (const step of steps) {
        if (step.kind === 'group') {
          const last = step.partsMs.length - 1
          for (const [i, ms] of step.partsMs.entries()) {
            send('hls', chunk(ms, i === 0, i === last))
            await look(await live.camera(1).hlsPlaylist(urlOf))
          }
          continue
        }
        wallMs += step.awayMs
        if (step.kind === 'gap') send('hls', marker('gap'))
        else send('hls', marker('end'), init(Uint8Array.of(id & 0xff)))
        await clock.advance(step.awayMs)
        await look(await live.camera(1).hlsPlaylist(urlOf))
      }
    }),
    { numRuns: 60 },
  )
})

test('parts keep to the rules of low-latency HLS, however many frames are in a group', async () => {
  const camera = fc.record({
    framesPerSecond: fc.constantFrom(5, 12.5, 15, 25),
    /** Up to the first playlist. */
    usualFrames: fc.integer({ min: 8, max: 25 }),
    groups: fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 12 }),
  })
  await fc.assert(
    fc.asyncProperty(camera, async ({ framesPerSecond, usualFrames, groups }) => {
      const { live, send, clock } = setUp()
      const first = live.camera(1).hlsPlaylist(urlOf)
      await settle()
      const rhythm = new PartRhythm(minSegmentMs)
      rhythm.startRun()
      let part: { startMs: number; isKey: boolean } | undefined
      let sent = 0
      const sendGroup = async (frames: number, look?: () => Promise<void>) => {
        for (let i = 0; i < frames; i++, sent++) {
          const startMs = (sent * 1000) / framesPerSecond
          const isKey = i === 0
          if (rhythm.next({ dts90k: Math.round(startMs * 90), isKey }) === false) continue
          if (part) {
            const { targetMs } = rhythm
            const times = { wallMs: 1_800_000_000_000 + part.startMs, durationMs: startMs - part.startMs }
            const rest = { ...times, endsGroup: isKey, ...(targetMs && { partTargetMs: targetMs }) }
            send('hls', { ...media(sent & 0xff, part.isKey, 10), ...rest })
            await look?.()
          }
          part = { startMs, isKey }
        }
      }
      send('hls', init(Uint8Array.of(0)))
      while (sent < framesPerSecond * 14) await sendGroup(usualFrames)
      await clock.advance(6000)
      let before = checkPlaylist(await first)
      assert.match(before.lowLatency, /PART-INF/)
      for (const frames of groups) {
        await sendGroup(frames, async () => {
          const text = await live.camera(1).hlsPlaylist(urlOf)
          const next = checkPlaylist(text)
          assert.deepEqual(next.faults, [], text)
          assert.deepEqual(checkNextPlaylist(before, next), [], text)
          before = next
        })
      }
    }),
    { numRuns: 60 },
  )
})
