import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../base/error.ts'
import { scanBoxes } from './box-scanner.ts'
import {
  mapCompositionOffsets,
  parseMovieFragment,
  parseProducerReferenceTime,
  shiftDecodeTimes,
} from './fragment-head.ts'
import { type Sample, type TrackRun, writeFragmentHead } from './media-fragment.ts'

const sample: fc.Arbitrary<Sample> = fc.record({
  data: fc.uint8Array({ maxLength: 40 }),
  duration: fc.constantFrom(0, 1024, 3000, 3001, 0xffffffff),
  compositionOffset: fc.constantFrom(0, 0, 3000, -3000),
  isKey: fc.boolean(),
  recovery: fc.constantFrom(undefined, 0, 7),
  isLeading: fc.boolean(),
})
const run = (trackId: 1 | 2): fc.Arbitrary<TrackRun> =>
  fc.record({
    trackId: fc.constant(trackId),
    baseDecodeTime: fc.maxSafeNat().map((n) => Math.floor(n / 4)),
    samples: fc.array(sample, { minLength: 1, maxLength: 20 }),
  })
const runs: fc.Arbitrary<TrackRun[]> = fc.oneof(
  run(1).map((r) => [r]),
  fc.tuple(run(1), run(2)),
)
const wallMs = fc.integer({ min: 0, max: Date.parse('2090-01-01') })

function bytesOf(sequence: number, runs: readonly TrackRun[], wallMs?: number): Uint8Array {
  return Buffer.concat([
    writeFragmentHead(sequence, runs, wallMs),
    ...runs.flatMap((r) => r.samples.map(({ data }) => data)),
  ])
}

test('a written fragment head is parsed to the same values', () => {
  fc.assert(
    fc.property(fc.nat(), runs, wallMs, (sequence, runs, wallMs) => {
      const bytes = bytesOf(sequence, runs, wallMs)
      const { boxes, restOffset } = scanBoxes(bytes)
      assert.deepEqual(
        boxes.map(({ type }) => type),
        ['prft', 'moof', 'mdat'],
      )
      assert.equal(restOffset, bytes.length)
      const [prft, moof, mdat] = boxes.map((b) => bytes.subarray(b.offset, b.offset + b.bytes))
      assert.equal(parseProducerReferenceTime(prft!), wallMs)
      const head = parseMovieFragment(moof!)
      assert.equal(head.sequence, sequence)
      assert.deepEqual(
        head.tracks,
        runs.map(({ trackId, baseDecodeTime, samples }) => ({
          trackId,
          baseDecodeTime,
          duration: samples.reduce((sum, { duration }) => sum + duration, 0),
          sampleCount: samples.length,
          dataBytes: samples.reduce((sum, { data }) => sum + data.length, 0),
          firstIsKey: samples[0]!.isKey,
        })),
      )
      assert.equal(
        mdat!.length - 8,
        head.tracks.reduce((sum, { dataBytes }) => sum + dataBytes, 0),
      )
    }),
  )
})

test('shifted times are read back, and shifting back restores the bytes', () => {
  fc.assert(
    fc.property(runs, fc.nat(), fc.nat(), (runs, video, audio) => {
      const original = writeFragmentHead(1, runs, 0)
      const head = original.slice()
      const end = head.length - 8 // without the `mdat` header
      shiftDecodeTimes(head.subarray(0, end), (trackId) => (trackId === 1 ? video : audio))
      assert.deepEqual(
        parseMovieFragment(head.subarray(32, end)).tracks.map(({ baseDecodeTime }) => baseDecodeTime),
        runs.map(({ trackId, baseDecodeTime }) => baseDecodeTime + (trackId === 1 ? video : audio)),
      )
      shiftDecodeTimes(head.subarray(0, end), (trackId) => (trackId === 1 ? -video : -audio))
      assert.deepEqual(head, original)
    }),
  )
})

test('clearing the composition offsets changes nothing else', () => {
  fc.assert(
    fc.property(runs, fc.integer({ min: 1, max: 9000 }), (runs, factor) => {
      const others = runs.map((run) => ({
        ...run,
        samples: run.samples.map((each) => ({ ...each, compositionOffset: each.compositionOffset * factor })),
      }))
      const [cleared, other] = [runs, others].map((runs) => {
        const head = writeFragmentHead(1, runs)
        mapCompositionOffsets(head.subarray(0, -8), () => 0)
        return head
      })
      assert.deepEqual(cleared, other)
      assert.deepEqual(
        parseMovieFragment(cleared!.subarray(0, -8)),
        parseMovieFragment(writeFragmentHead(1, runs).subarray(0, -8)),
      )
      const isPlain = runs.every(({ samples }) => samples.every(({ compositionOffset }) => compositionOffset === 0))
      assert.equal(Buffer.compare(cleared!, writeFragmentHead(1, runs)) === 0, isPlain)
    }),
  )
})

test('a file truncated anywhere gives its complete boxes and the start of the rest', () => {
  fc.assert(
    fc.property(runs, fc.nat(), (runs, cut) => {
      const bytes = bytesOf(1, runs, 0)
      const whole = scanBoxes(bytes).boxes
      const length = cut % (bytes.length + 1)
      const { boxes, restOffset } = scanBoxes(bytes.subarray(0, length))
      assert.deepEqual(
        boxes,
        whole.filter((b) => b.offset + b.bytes <= length),
      )
      assert.equal(
        restOffset,
        boxes.reduce((sum, b) => sum + b.bytes, 0),
      )
    }),
  )
})

test('damaged bytes are either parsed or reported as corrupt', () => {
  const corruptOnly = (read: () => void) => {
    try {
      read()
    } catch (error) {
      assert.ok(error instanceof AppError && error.kind === 'corrupt', String(error))
    }
  }
  const readAll = (bytes: Uint8Array) => {
    corruptOnly(() => scanBoxes(bytes))
    corruptOnly(() => parseMovieFragment(bytes))
    corruptOnly(() => parseProducerReferenceTime(bytes))
    corruptOnly(() => shiftDecodeTimes(bytes, () => 7))
    corruptOnly(() => mapCompositionOffsets(bytes, () => 0))
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), readAll))
  fc.assert(
    fc.property(runs, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 }), (runs, damage) => {
      const head = writeFragmentHead(1, runs).slice(0, -8)
      for (const [at, value] of damage) head[at % head.length] = value
      readAll(head)
    }),
  )
})

test('a fragment without samples is rejected', () => {
  assert.throws(() => writeFragmentHead(1, [{ trackId: 1, baseDecodeTime: 0, samples: [] }]), { kind: 'invalid' })
})
