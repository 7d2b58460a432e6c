import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Upsampler } from './upsampler.ts'

const tone = (hertz: number, rate: number, count: number, shift = 0) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin((2 * Math.PI * hertz * (i - shift)) / rate))

test('tones of the telephone band are unchanged at twice the sample rate', () => {
  for (const hertz of [50, 300, 1000, 2000, 3000]) {
    const out = new Upsampler().push(tone(hertz, 8000, 800))
    const wanted = tone(hertz, 16_000, 1600, 2 * Upsampler.delaySamples)
    for (let i = 64; i < out.length - 64; i++) {
      assert.ok(Math.abs(out[i]! - wanted[i]!) < 0.02, `${hertz} Hz at ${i}: ${out[i]} for ${wanted[i]}`)
    }
  }
})

test('any split gives the same samples', () => {
  const samples = tone(700, 8000, 500)
  const whole = new Upsampler().push(samples)
  const parts = new Upsampler()
  const sizes = [1, 2, 100, 7, 0, 390]
  let at = 0
  const out = sizes.flatMap((size) => [...parts.push(samples.subarray(at, (at += size)))])
  assert.deepEqual(out, [...whole])
})
