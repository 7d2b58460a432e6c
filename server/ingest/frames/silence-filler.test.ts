import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { syntheticFormat } from '../../../test/support/media/synthetic-frames.ts'
import type { AudioFormat, Frame } from '../../media/frame.ts'
import { opusPacketSamples, writeOpusConfig } from '../../media/opus/opus-packet.ts'
import { createSilence } from '../../media/telephony/silence.ts'
import { maxSilenceLag90k, SilenceFiller, silenceLag90k } from './silence-filler.ts'

const opus: AudioFormat = {
  codec: 'opus',
  sampleRate: 48_000,
  channels: 2,
  config: writeOpusConfig(2),
  codecString: 'opus',
}
const formats = [opus, ...([8000, 16_000, 44_100, 48_000] as const).map(aac)]

function aac(audioSampleRate: 8000 | 16_000 | 44_100 | 48_000): AudioFormat {
  return syntheticFormat({ audioSampleRate }).audio!
}

type Block = { readonly frame: Frame; readonly isSilence: boolean; readonly length90k: number }

function open(format: AudioFormat) {
  const blocks: Block[] = []
  const samplesOf = (data: Uint8Array) => (format.codec === 'opus' ? opusPacketSamples(data) : 1024)
  const filler = new SilenceFiller(format, createSilence(format)!, (frame, isSilence) =>
    blocks.push({ frame, isSilence, length90k: (samplesOf(frame.data) * 90_000) / format.sampleRate }),
  )
  filler.beginRun()
  const length90k = ((format.codec === 'opus' ? 960 : 1024) * 90_000) / format.sampleRate
  const end90k = () => (blocks.length === 0 ? 0 : blocks.at(-1)!.frame.pts90k + blocks.at(-1)!.length90k)
  return { filler, blocks, length90k, end90k }
}

/** A block of a camera: 20 ms in Opus, and a single arbitrary byte in AAC. */
const real = (pts90k: number, wallMs = 0): Frame => ({
  ...{ kind: 'audio', pts90k, dts90k: pts90k, wallMs, isKey: true },
  data: Uint8Array.of(31 << 3),
})

/**
 * Checks that times increase strictly, and that there are no overlaps or holes that a listener or a player would
 * notice.
 */
function checkTrack(blocks: readonly Block[], longest90k: number): void {
  for (const [i, { frame }] of blocks.entries()) {
    const before = blocks[i - 1]
    if (!before) continue
    assert.ok(frame.pts90k > before.frame.pts90k && Number.isSafeInteger(frame.pts90k))
    assert.ok(frame.wallMs >= before.frame.wallMs)
    const hole90k = frame.pts90k - before.frame.pts90k - before.length90k
    assert.ok(hole90k >= -longest90k / 2 - 1, `an overlap of ${-hole90k} ticks`)
    assert.ok(hole90k <= Math.max(longest90k / 2, 90_000 / 16) + longest90k / 2 + 1, `a hole of ${hole90k} ticks`)
  }
}

test('any pattern of arrivals results in a track without holes that is never further behind than the lag', () => {
  const step = fc.record({
    frameMs: fc.constantFrom(16, 40, 40, 200, 1000, 7000),
    blocks: fc.integer({ min: 0, max: 40 }),
    lostBlocks: fc.constantFrom(0, 0, 0, 1, 5, 300),
    lateMs: fc.integer({ min: -300, max: 2000 }),
    jitter90k: fc.integer({ min: 0, max: 400 }),
  })
  fc.assert(
    fc.property(fc.constantFrom(...formats), fc.array(step, { maxLength: 100 }), (format, steps) => {
      const { filler, blocks, length90k, end90k } = open(format)
      let video90k = 0
      let audio90k = 0
      filler.takeVideo(0, 0)
      for (const { frameMs, blocks: count, lostBlocks, lateMs, jitter90k } of steps) {
        video90k += frameMs * 90
        filler.takeVideo(video90k, video90k / 90)
        assert.ok(end90k() > video90k - maxSilenceLag90k - length90k - 1)
        // No camera sends audio that is minutes ahead of its video.
        const lost90k = audio90k < video90k + 900_000 ? lostBlocks * length90k : 0
        audio90k = Math.max(audio90k + lost90k, video90k - lateMs * 90)
        for (let i = 0; i < count; i++, audio90k += length90k) {
          const pts90k = Math.round(audio90k + jitter90k)
          filler.takeBlock(real(pts90k, pts90k / 90))
        }
      }
      filler.endRun()
      const after90k = end90k() - video90k
      assert.ok(after90k > 0, 'audio ends with the last video frame or after it')
      checkTrack(blocks, length90k)
    }),
    { numRuns: 500 },
  )
})

/** Plays 25 video frames per second. Each block is sent `lateMs` after its time. */
function play(format: AudioFormat, seconds: number, lateMs: number, hasAudio: (second: number) => boolean) {
  const opened = open(format)
  const { filler, length90k } = opened
  let block = 0
  for (let frame = 0; frame < seconds * 25; frame++) {
    const now90k = frame * 3600
    filler.takeVideo(now90k, now90k / 90)
    for (; block * length90k <= now90k - lateMs * 90; block++) {
      if (hasAudio((block * length90k) / 90_000)) filler.takeBlock(real(Math.round(block * length90k)))
    }
  }
  return opened
}

test('audio that arrives in time is passed through unchanged', () => {
  for (const format of formats) {
    const { blocks, length90k } = play(format, 20, 200, () => true)
    assert.ok(blocks.every(({ isSilence }) => !isSilence))
    for (const [i, { frame }] of blocks.entries()) assert.equal(frame.pts90k, Math.round(i * length90k))
  }
})

test('blocks whose times accumulate are dropped and do not overlap, and a wrong rate is followed', () => {
  for (const [step, dropped] of [
    [1, true],
    [0.995, false],
    [1.005, false],
  ] as const) {
    const { filler, blocks, length90k } = open(aac(48_000))
    let audio90k = 0
    for (let i = 0; i < 3000; i++) {
      if (i % 2 === 0) filler.takeVideo(Math.round(i * length90k), i * 21)
      // The audio clock stands still for half a second.
      const isStuck = dropped && i >= 1000 && i < 1025
      audio90k += isStuck ? 1 : length90k * step
      filler.takeBlock(real(Math.round(audio90k)))
    }
    checkTrack(blocks, length90k)
    const count = blocks.filter(({ isSilence }) => !isSilence).length
    assert.ok(dropped ? count < 2985 && count > 2960 : count >= 2990, `${count} of 3000`)
    assert.ok(blocks.filter(({ isSilence }) => isSilence).length < 40)
  }
})

test('audio that is always late is audible after a moment', () => {
  for (const lateMs of [400, 900, 1900]) {
    const { blocks, length90k } = play(aac(48_000), 30, lateMs, () => true)
    checkTrack(blocks, length90k)
    const isLate = blocks.findLast(({ isSilence }) => isSilence)!.frame.pts90k > 5 * 90_000
    assert.equal(isLate, false, `audio ${lateMs} ms late is replaced by silence`)
  }
})

test('silence arrives in time for the recorder, which waits half a second, even after late audio', () => {
  const { filler, end90k } = open(aac(8000))
  filler.takeVideo(0, 0)
  filler.takeBlock(real(0))
  filler.takeVideo(90_000, 1000)
  filler.takeBlock(real(Math.round(11_520)))
  for (let frame = 30; frame < 25 * 120; frame++) filler.takeVideo(frame * 3600, frame * 40)
  assert.ok(end90k() > 25 * 120 * 3600 - 45_000)
  assert.ok(silenceLag90k + 11_520 + 3600 < 45_000)
})

test('every run has its own audio track', () => {
  const { filler, blocks } = play(aac(48_000), 2, 0, () => true)
  filler.endRun()
  const first = blocks.length
  filler.beginRun()
  for (let frame = 0; frame < 50; frame++) filler.takeVideo(frame * 3600, frame * 40)
  assert.equal(blocks[first]!.frame.pts90k, 0)
  assert.ok(blocks[first]!.isSilence)
})
