import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fitImage } from './image-size.ts'

test('a limit shrinks the image and keeps its aspect ratio; without a limit the size is unchanged', () => {
  const hd = { width: 1920, height: 1080 }
  assert.deepEqual(fitImage(hd, {}), hd)
  assert.deepEqual(fitImage(hd, { maxWidth: 640 }), { width: 640, height: 360 })
  assert.deepEqual(fitImage(hd, { maxHeight: 540 }), { width: 960, height: 540 })
  assert.deepEqual(fitImage(hd, { maxWidth: 640, maxHeight: 100 }), { width: 178, height: 100 })
  assert.deepEqual(fitImage(hd, { maxWidth: 4000, maxHeight: 4000 }), hd)
  assert.deepEqual(fitImage({ width: 4000, height: 2 }, { maxWidth: 10 }), { width: 10, height: 1 })
})

test('the result respects the limits, and fitting it again changes nothing', () => {
  const pixels = fc.integer({ min: 1, max: 8192 })
  const limit = fc.option(pixels, { nil: undefined })
  fc.assert(
    fc.property(pixels, pixels, limit, limit, (width, height, maxWidth, maxHeight) => {
      const fit = fitImage({ width, height }, { maxWidth, maxHeight })
      assert.ok(fit.width <= Math.min(width, maxWidth ?? width))
      assert.ok(fit.height <= Math.min(height, maxHeight ?? height))
      assert.ok(fit.width >= 1 && fit.height >= 1)
      assert.deepEqual(fitImage(fit, { maxWidth, maxHeight }), fit)
      const again = fitImage({ width, height }, { maxWidth: fit.width, maxHeight: fit.height })
      assert.ok(Math.abs(again.width - fit.width) <= Math.ceil(width / height) + 1)
    }),
  )
})
