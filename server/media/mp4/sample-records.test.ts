import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../base/error.ts'
import { SampleRecordReader, SampleRecordWriter, type SampleRun } from './sample-records.ts'

const u32 = fc.nat(2 ** 32 - 1)
const sample = fc.record({
  size: fc.oneof(fc.nat(300), fc.nat(2 ** 31 - 1)),
  duration: fc.oneof(fc.constantFrom(3600, 3599, 1024), u32),
  compositionOffset: fc.oneof(fc.constantFrom(0, 7200, -3600), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  isKey: fc.boolean(),
})
const run: fc.Arbitrary<SampleRun> = fc
  .record({
    trackId: fc.constantFrom(1, 2),
    baseDecodeTime: fc.maxSafeNat(),
    dataOffset: u32,
    samples: fc.array(sample, { minLength: 1, maxLength: 90 }),
  })
  .map(({ samples, ...rest }) => ({
    ...rest,
    count: samples.length,
    sizes: samples.map(({ size }) => size),
    durations: samples.map(({ duration }) => duration),
    compositionOffsets: samples.map(({ compositionOffset }) => compositionOffset),
    isKey: samples.map(({ isKey }) => isKey),
  }))

function add(writer: SampleRecordWriter, runs: readonly SampleRun[]): void {
  writer.begin(runs.length)
  for (const run of runs) writer.addRun(run)
}

test('records are read as they were written', () => {
  fc.assert(
    fc.property(fc.array(fc.array(run, { maxLength: 2 }), { maxLength: 5 }), (fragments) => {
      const writer = new SampleRecordWriter()
      for (const runs of fragments) add(writer, runs)
      assert.equal(writer.count, fragments.length)
      const reader = new SampleRecordReader(writer.read())
      for (const runs of fragments) {
        const found: SampleRun[] = []
        reader.readRecord(Number.MAX_SAFE_INTEGER, ({ dataBytes, ...run }) => {
          const list = (values: ArrayLike<number>) => Array.from(values).slice(0, run.count)
          assert.equal(
            dataBytes,
            list(run.sizes).reduce((a, b) => a + b, 0),
          )
          found.push({
            ...run,
            sizes: list(run.sizes),
            durations: list(run.durations),
            compositionOffsets: list(run.compositionOffsets),
            isKey: list(run.isKey).map(Boolean),
          })
        })
        assert.deepEqual(found, runs)
      }
      assert.ok(reader.isAtEnd)
    }),
  )
})

test('other bytes are an error, and are read in bounded time and memory', () => {
  const read = (bytes: Uint8Array) => {
    const reader = new SampleRecordReader(bytes)
    try {
      while (!reader.isAtEnd) reader.readRecord(2 ** 40)
    } catch (error) {
      assert.ok(error instanceof AppError && error.kind === 'corrupt', String(error))
    }
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), read))
  fc.assert(
    fc.property(fc.array(run, { minLength: 1, maxLength: 2 }), fc.nat(), fc.nat(255), (runs, at, byte) => {
      const writer = new SampleRecordWriter()
      add(writer, runs)
      const bytes = writer.read()
      bytes[at % bytes.length] = byte
      read(bytes)
    }),
  )
  const writer = new SampleRecordWriter()
  const one = { ...{ trackId: 1, baseDecodeTime: 0, count: 1 }, durations: [1], compositionOffsets: [0], isKey: [true] }
  add(writer, [{ ...one, dataOffset: 100, sizes: [900] }])
  new SampleRecordReader(writer.read()).readRecord(1000)
  assert.throws(() => new SampleRecordReader(writer.read()).readRecord(999), { kind: 'corrupt' })
})
