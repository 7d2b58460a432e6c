// Tests with real footage and the real decoder: the image of a moment shows what the camera sent then.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FootageScene } from '../../test/playback/footage-scene.ts'
import { syntheticFormat, syntheticFrames, syntheticStartMs as t0 } from '../../test/support/media/synthetic-frames.ts'
import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/error.ts'
import { silentLogger } from '../base/log.ts'
import { Decoder } from '../decoder/decoder.ts'
import { noIsolation } from '../decoder/isolation/isolation.ts'
import { RecordedImages } from './recorded-images.ts'

const isKind = (kind: string) => (error: unknown) => error instanceof AppError && error.kind === kind

/** The frame that the camera sent `seconds` after the beginning of a run. Key frames are one second apart. */
function sentAt(decoder: Decoder, seconds: number): Promise<Uint8Array[]> {
  const { codec, config } = syntheticFormat({ audioSampleRate: 16000 }).video
  for (const frame of syntheticFrames({ audioSampleRate: 16000 })) {
    if (frame.kind === 'video' && frame.isKey && frame.dts90k >= seconds * 90_000)
      return decoder.decode({ codec, config, data: frame.data, sizes: [{}] })
  }
  throw new Error('frames have no end')
}

test('the image of a moment is the key frame at or before it; without footage there is no image', async () => {
  await using scene = new FootageScene()
  await using decoder = new Decoder({ log: silentLogger, clock: systemClock, isolation: noIsolation })
  const recordedImages = new RecordedImages({ catalog: scene.catalog, decoder })
  await scene.record(0, 10, { audioSampleRate: 16000 })
  await scene.lose('camera_unreachable')
  await scene.record(60, 70, { audioSampleRate: 16000 })
  const at = (seconds: number) => recordedImages.getImage(1, t0 + seconds * 1000, {}, 7)

  for (const [moment, second] of [
    [0, 0],
    [3, 3],
    [3.999, 3],
    [4, 4],
    [13, 9], // in the gap, the newest frame before it
    [59.5, 0], // shortly before the footage, as timelines are rounded
    [62.4, 2],
  ] as const) {
    const { jpeg, takenAtMs } = await at(moment)
    assert.deepEqual(jpeg, (await sentAt(decoder, second))[0], `${moment}`)
    assert.equal(takenAtMs, t0 + (moment > 50 ? 60 + second : second) * 1000)
  }
  assert.notDeepEqual((await at(3)).jpeg, (await at(4)).jpeg, 'moments differ')
  for (const moment of [-2, 21, 40, 500]) await assert.rejects(at(moment), isKind('not_found'), `${moment}`)
  await assert.rejects(recordedImages.getImage(2, t0, {}, 7), isKind('not_found'), 'another camera')
})

test('an image is created once for all requests in the requested size, and the queue is limited', async () => {
  await using scene = new FootageScene()
  await using decoder = new Decoder({ log: silentLogger, clock: systemClock, isolation: noIsolation })
  const recordedImages = new RecordedImages({ catalog: scene.catalog, decoder })
  await scene.record(0, 50)
  const same = await Promise.all(
    [1, 1.2, 1.4].map((s) => recordedImages.getImage(1, t0 + s * 1000, { maxWidth: 32 }, 7)),
  )
  await recordedImages.getImage(1, t0 + 1500, { maxWidth: 32 }, 7)
  assert.equal(decoder.stats().decodes, 1)
  const whole = await recordedImages.getImage(1, t0 + 1500, {}, 7)
  assert.ok(same[0]!.jpeg.length < whole.jpeg.length)

  const many = await Promise.allSettled(
    Array.from({ length: 80 }, (_, i) =>
      recordedImages.getImage(1, t0 + (i >> 1) * 1000, { maxWidth: i % 2 ? 16 : 8 }, 7),
    ),
  )
  const refused = many.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  assert.ok(refused.length > 0 && refused.every(isKind('unavailable')))
  assert.ok(many.filter(({ status }) => status === 'fulfilled').length >= 64)
  await recordedImages.getImage(1, t0 + 44_000, { maxWidth: 16 }, 7)
})

test('a viewer that requests many images does not delay other viewers', async () => {
  await using scene = new FootageScene()
  await using decoder = new Decoder({ log: silentLogger, clock: systemClock, isolation: noIsolation })
  const recordedImages = new RecordedImages({ catalog: scene.catalog, decoder })
  await scene.record(0, 50)
  let made = 0
  const manyRequests = Array.from({ length: 60 }, (_, i) =>
    recordedImages.getImage(1, t0 + (i >> 1) * 1000, { maxWidth: i % 2 ? 16 : 8 }, 7).then(() => made++),
  )
  await recordedImages.getImage(1, t0 + 45_000, { maxWidth: 32 }, 8)
  assert.ok(made < 20, `${made} images of the other viewer were created before`)
  await Promise.all(manyRequests)
})

test('a wall with more cameras than the concurrency limit shows the same moment of all', async () => {
  await using scene = new FootageScene()
  await using decoder = new Decoder({ log: silentLogger, clock: systemClock, isolation: noIsolation })
  await scene.record(0, 5)
  // Serves the footage of one camera under many ids.
  const recordedImages = new RecordedImages({
    catalog: {
      open: (segment) => scene.catalog.open(segment),
      listSegments: async (id, ...range) => (await scene.catalog.listSegments(1, ...range)).map((s) => ({ ...s, id })),
    },
    decoder: {
      async decode(request) {
        const [jpeg] = await decoder.decode({ ...request, source: undefined })
        return [jpeg!]
      },
    },
  })
  const made = await Promise.all(
    Array.from({ length: 60 }, (_, camera) => recordedImages.getImage(camera, t0 + 2000, { maxWidth: 32 }, 7)),
  )
  assert.equal(made.length, 60)
  assert.equal(decoder.stats().decodes, 60)
})
