import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { syntheticFormat } from '../../../test/support/media/synthetic-frames.ts'
import type { Frame } from '../frame.ts'
import { type CutFragment, FragmentCutter } from './fragment-cutter.ts'

const format = syntheticFormat({ audioSampleRate: 48000 })
const limits = { minFragment90k: 0, maxFragment90k: 135_000, maxFragmentBytes: 1_000_000 }

function cutAll(frames: readonly Frame[], isNewFile: (frame: Frame) => boolean = () => false, minFragment90k = 0) {
  const files: { start: Frame; fragments: CutFragment[] }[] = []
  const cutter = new FragmentCutter(
    format,
    { ...limits, minFragment90k },
    {
      wantsNewFile: isNewFile,
      startFile: (start) => files.push({ start, fragments: [] }),
      addFragment: (fragment) => files.at(-1)!.fragments.push(fragment),
    },
  )
  for (const frame of frames) {
    if (frame.kind === 'video') cutter.pushVideo(frame)
    else cutter.pushAudio(frame)
  }
  cutter.finish()
  assert.equal(cutter.openBytes, 0)
  assert.equal(cutter.openFrames, 0)
  return files
}

function video(dts90k: number, isKey: boolean, offset = 0): Frame {
  return { kind: 'video', dts90k, pts90k: dts90k + offset, wallMs: dts90k / 90, isKey, data: new Uint8Array(10) }
}

function audio(block: number): Frame {
  const pts90k = block * 1920
  return { kind: 'audio', dts90k: pts90k, pts90k, wallMs: pts90k / 90, isKey: true, data: Uint8Array.of(block) }
}

test('every frame is in exactly one fragment, and fragments are contiguous', () => {
  const steps = fc.array(fc.record({ step: fc.integer({ min: 1, max: 20_000 }), isKey: fc.boolean() }), {
    minLength: 1,
    maxLength: 200,
  })
  fc.assert(
    fc.property(steps, fc.func(fc.boolean()), (steps, isNewFile) => {
      let dts90k = 0
      const frames = steps.map(({ step, isKey }, i) => video((dts90k += step), isKey || i === 0))
      const files = cutAll(frames, (frame) => isNewFile(frame.dts90k))
      const fragments = files.flatMap((file) => file.fragments)
      assert.equal(
        fragments.reduce((n, f) => n + f.video.length, 0),
        frames.length,
      )
      for (const [i, f] of fragments.entries()) {
        assert.equal(
          f.video.reduce((n, { duration }) => n + duration, 0),
          f.duration90k,
        )
        assert.ok(f.video.slice(1).every(({ isKey }) => !isKey))
        const before = fragments[i - 1]
        if (before) assert.equal(f.start90k, before.start90k + before.duration90k)
      }
      for (const { start, fragments } of files) {
        assert.ok(start.isKey && fragments[0]!.isKey)
        assert.equal(fragments[0]!.start90k, start.dts90k)
      }
    }),
  )
})

test('late audio is placed at its time, and none is lost between files', () => {
  const frames: Frame[] = []
  for (let i = 0; i < 100; i++) frames.push(video(i * 3600, i % 25 === 0))
  // Up to 0.3 s behind the video.
  for (let block = 0; block < 180; block++) {
    const late = block * 1920 + 27_000
    const at = frames.findIndex((f) => f.kind === 'video' && f.dts90k > late)
    frames.splice(at === -1 ? frames.length : at, 0, audio(block))
  }
  const files = cutAll(frames, () => true)
  assert.equal(files.length, 4)
  let next = 0
  for (const { start, fragments } of files) {
    for (const f of fragments) {
      assert.equal(f.audioStart, next)
      assert.ok(f.audioStart >= (start.dts90k * 48_000) / 90_000)
      next += f.audio.reduce((n, { duration }) => n + duration, 0)
    }
  }
  // Four seconds of video. The eight blocks that have not arrived when the run ends are silence.
  assert.equal(next, 188 * 1024)
})

test('audio that came before the key frame of its time is silence, so that audio and video begin together', () => {
  for (const firstBlock of [0, 1, 5, 20, 40]) {
    const frames: Frame[] = Array.from({ length: 50 }, (_, i) => video(i * 3600, i % 25 === 0))
    for (let block = firstBlock; block < 94; block++) {
      // 0.4 s ahead of the video.
      const at = frames.findIndex((f) => f.kind === 'video' && f.dts90k > block * 1920 - 36_000)
      frames.splice(at === -1 ? frames.length : at, 0, audio(block))
    }
    const [first, second] = cutAll(frames).flatMap((file) => file.fragments)
    assert.ok(first && second)
    assert.ok(first.audioStart < 1024, `${firstBlock}: ${first.audioStart}`)
    assert.equal(first.audioStart + first.audio.length * 1024, second.audioStart)
    assert.ok(first.audio.every(({ duration }) => duration === 1024))
  }
})

test('missing audio at the end of a run is filled with silence, so that audio and video end together', () => {
  for (const lastBlock of [170, 180, 187, 188]) {
    const frames: Frame[] = Array.from({ length: 100 }, (_, i) => video(i * 3600, i % 25 === 0))
    for (let block = 0; block < lastBlock; block++) {
      const at = frames.findIndex((f) => f.kind === 'video' && f.dts90k > block * 1920)
      frames.splice(at === -1 ? frames.length : at, 0, audio(block))
    }
    const fragments = cutAll(frames, ({ dts90k }) => dts90k === 270_000).flatMap((file) => file.fragments)
    for (const { start90k, duration90k, audioStart, audio } of fragments) {
      const audioEnd = audioStart + audio.reduce((sum, { duration }) => sum + duration, 0)
      const videoEnd = ((start90k + duration90k) * 48_000) / 90_000
      assert.ok(audioEnd >= videoEnd && audioEnd < videoEnd + 1024, `${audioEnd} and ${videoEnd}`)
    }
  }
})

test('key frames in quick succession share a fragment, and a file can begin after it', () => {
  const frames = Array.from({ length: 100 }, (_, i) => video(i * 3600, true))
  const files = cutAll(frames, ({ dts90k }) => dts90k >= 180_000, 45_000)
  const lengths = files.map(({ fragments }) => fragments.map((fragment) => fragment.video.length))
  assert.deepEqual(lengths.slice(0, 2), [[13, 13, 13, 13], [13]])
  assert.ok(files.every(({ fragments }) => fragments.every((f) => f.isKey && f.video.every(({ isKey }) => isKey))))
  assert.equal(
    lengths.flat().reduce((sum, length) => sum + length),
    100,
  )
})

test('reordered frames keep their presentation times', () => {
  const offsets = [3600, 10_800, 3600, 0]
  const [file] = cutAll(offsets.map((offset, i) => video(i * 3600, i === 0, offset)))
  assert.deepEqual(
    file!.fragments[0]!.video.map(({ compositionOffset }) => compositionOffset),
    offsets,
  )
})

test('the last frame of a run lasts as long as the one before it', () => {
  const [file] = cutAll([video(0, true), video(4500, false), video(9000, true)])
  assert.deepEqual(
    file!.fragments.map(({ duration90k }) => duration90k),
    [9000, 4500],
  )
  const [single] = cutAll([video(0, true)])
  assert.ok(single!.fragments[0]!.duration90k > 0)
})

test('a split group of pictures ends at the next key frame, however close, so that players can start there', () => {
  const frames = Array.from({ length: 200 }, (_, i) => video(i * 3600, i % 50 === 0))
  const [file] = cutAll(frames, () => false, 90_000)
  const keys = file!.fragments.filter(({ isKey }) => isKey).map(({ start90k }) => start90k)
  assert.deepEqual(keys, [0, 180_000, 360_000, 540_000])
  assert.ok(file!.fragments.every(({ video }) => video.slice(1).every(({ isKey }) => !isKey)))
})

test('very late audio from before a file is not in its first fragment', () => {
  const lateBlocks = 60 // 1.28 s
  const frames: Frame[] = []
  for (let index = 0, block = 0; index < 250; index++) {
    frames.push(video(index * 3600, index % 12 === 0))
    while ((block + lateBlocks) * 1920 <= index * 3600) frames.push(audio(block++))
  }
  const files = cutAll(frames, (frame) => frame.dts90k === 4 * 12 * 3600)
  assert.equal(files.length, 2)
  for (const { start, fragments } of files) {
    for (const { audio, audioStart } of fragments) {
      if (audio.length > 0)
        assert.ok(audioStart >= (start.dts90k / 90_000) * 48_000, `${audioStart} in ${start.dts90k}`)
    }
  }
})
