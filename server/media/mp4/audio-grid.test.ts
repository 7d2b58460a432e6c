import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { syntheticFormat } from '../../../test/support/media/synthetic-frames.ts'
import { writeOpusConfig } from '../opus/opus-packet.ts'
import { AudioGrid } from './audio-grid.ts'

const block = Uint8Array.of(1)

const gridOf = (rate: 8000 | 16000 | 44100 | 48000) => new AudioGrid(syntheticFormat({ audioSampleRate: rate }).audio!)

test('rounded and jittery timestamps yield blocks without holes', () => {
  const jitter = fc.array(fc.integer({ min: -900, max: 900 }), { minLength: 10, maxLength: 500 })
  fc.assert(
    fc.property(fc.constantFrom(8000, 16000, 44100, 48000), jitter, (rate, jitter) => {
      const grid = gridOf(rate as 48000)
      let first: number | undefined
      for (const [i, error] of jitter.entries()) {
        const position = grid.place(10_000 + Math.round((i * 1024 * 90_000) / rate) + error, block)!.position
        first ??= position
        assert.equal(position, first + i * 1024)
      }
    }),
  )
})

test('missing blocks leave a hole of whole blocks', () => {
  const grid = gridOf(48000)
  const ticks = 1920
  assert.equal(grid.place(0, block)?.position, 0)
  assert.equal(grid.place(ticks, block)?.position, 1024)
  assert.equal(grid.place(50 * ticks, block)?.position, 50 * 1024)
  assert.equal(grid.place(51 * ticks, block)?.position, 51 * 1024)
})

test('a slow or fast clock is followed by adding or skipping a block now and then', () => {
  for (const factor of [0.999, 1.001]) {
    const grid = gridOf(48000)
    let dropped = 0
    for (let i = 0; i < 100_000; i++) {
      const wanted = i * 1920 * factor
      const position = grid.place(Math.round(wanted), block)?.position
      if (position === undefined) dropped++
      else assert.ok(Math.abs(position / 48000 - wanted / 90_000) < 0.1)
    }
    assert.equal(dropped > 0, factor < 1)
  }
})

test('a track at twice the rate of its core has blocks of 2048 samples', () => {
  const { audio } = syntheticFormat({ audioSampleRate: 16000 })
  assert.equal(new AudioGrid({ ...audio!, sampleRate: 32000 }).place(0, block)?.samples, 2048)
  assert.equal(new AudioGrid(audio!).place(0, block)?.samples, 1024)
})

test('the duration of Opus packets is read from the packets', () => {
  const audio = {
    codec: 'opus',
    sampleRate: 48_000,
    channels: 2,
    config: writeOpusConfig(2),
    codecString: 'opus',
  } as const
  const grid = new AudioGrid(audio)
  const packets = [8, 24, 16].map((toc) => Uint8Array.of(toc, 1)) // 20, 60 and 40 ms
  const places = [0, 1800, 7200].map((pts90k, i) => grid.place(pts90k + 3, packets[i]!))
  assert.deepEqual(places, [
    { position: 2, samples: 960 },
    { position: 962, samples: 2880 },
    { position: 3842, samples: 1920 },
  ])
})
