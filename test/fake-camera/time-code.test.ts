import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  AV_PIX_FMT_GRAY8,
  AV_PIX_FMT_RGBA,
  AV_PIX_FMT_YUVJ420P,
  type AVPixelFormat,
  Codec,
  CodecContext,
  FF_DECODER_H264,
  FF_DECODER_MJPEG,
  FF_ENCODER_MJPEG,
  type FFDecoderCodec,
  FFmpegError,
  Frame,
  Packet,
  Rational,
  SoftwareScaleContext,
  SWS_BILINEAR,
} from 'node-av'
import { VideoEncoder } from './encode/video-encoder.ts'
import { paintCaption } from './scene/caption.ts'
import { createScene, ScenePicture } from './scene/scene.ts'
import { drawTimeCode, readTimeCode } from './time-code.ts'

const codes = fc.record(
  { unixMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }), frameNumber: fc.integer({ min: 0, max: 2 ** 32 - 1 }) },
  { noNullPrototype: true },
)
const sizes = [
  [1920, 1080],
  [1280, 720],
  [960, 540],
  [854, 480],
  [640, 360],
  [320, 180],
] as const

test('what is drawn is read, in every size', () => {
  fc.assert(
    fc.property(codes, fc.constantFrom(...sizes), (code, [width, height]) => {
      const luma = new Uint8Array(width * height)
      drawTimeCode(luma, width, height, code)
      assert.deepEqual(readTimeCode(luma, width, height), code)
    }),
    { numRuns: 30 },
  )
})

test('a picture without a strip gives nothing', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 64 * 36, maxLength: 64 * 36 }), (luma) => {
      assert.equal(readTimeCode(luma, 64, 36), undefined)
    }),
    { numRuns: 50 },
  )
  assert.equal(readTimeCode(new Uint8Array(960 * 540).fill(90), 960, 540), undefined)
})

test('it is read after H.264, and after H.264, scaling to a quarter and JPEG', async () => {
  const scene = new ScenePicture(createScene('door'), 960, 540)
  using encoder = await VideoEncoder.open({
    codec: 'h264',
    bFrames: 0,
    width: 960,
    height: 540,
    framesPerSecond: 15,
    gopFrames: 30,
    bitsPerSecond: 300_000,
    rate: 'limit',
  })
  using decoder = openDecoder(FF_DECODER_H264)
  for (let frameNumber = 0; frameNumber < 20; frameNumber++) {
    const code = { unixMs: 1_795_223_412_345 + frameNumber * 66, frameNumber }
    scene.paint(code.unixMs)
    paintCaption(scene.painter, { name: 'test', ...code })
    const { units: nals } = encoder.encode(scene.picture)!
    using decoded = decode(decoder, Buffer.concat(nals.flatMap((nal) => [Buffer.from([0, 0, 0, 1]), nal])))
    assert.deepEqual(readTimeCode(decoded.toBuffer().subarray(0, 960 * 540), 960, 540), code)
    for (const [width, height] of [
      [640, 360],
      [500, 282],
      [240, 136],
    ] as const) {
      using small = scale(decoded, width, height, AV_PIX_FMT_YUVJ420P)
      using jpegDecoder = openDecoder(FF_DECODER_MJPEG)
      using again = decode(jpegDecoder, encodeJpeg(small))
      using gray = scale(again, width, height, AV_PIX_FMT_GRAY8)
      using rgba = scale(again, width, height, AV_PIX_FMT_RGBA)
      assert.deepEqual(readTimeCode(gray.toBuffer(), width, height), code, `gray ${width}×${height}`)
      assert.deepEqual(readTimeCode(rgba.toBuffer(), width, height), code, `RGBA ${width}×${height}`)
    }
  }
})

function openDecoder(name: FFDecoderCodec): CodecContext {
  const codec = Codec.findDecoderByName(name)
  assert.ok(codec)
  const context = new CodecContext()
  context.allocContext3(codec)
  context.threadCount = 1
  FFmpegError.throwIfError(context.open2Sync(codec), 'open a decoder')
  return context
}

function decode(decoder: CodecContext, data: Buffer): Frame {
  using packet = new Packet()
  packet.alloc()
  packet.data = data
  FFmpegError.throwIfError(decoder.sendPacketSync(packet), 'decode')
  const frame = new Frame()
  frame.alloc()
  FFmpegError.throwIfError(decoder.receiveFrameSync(frame), 'decode')
  return frame
}

function scale(source: Frame, width: number, height: number, format: AVPixelFormat): Frame {
  const target = new Frame()
  target.alloc()
  target.width = width
  target.height = height
  target.format = format
  // Rows without padding, so that the bytes are the picture.
  FFmpegError.throwIfError(target.getBuffer(1), 'allocate a picture')
  using scaler = new SoftwareScaleContext()
  scaler.getContext(
    source.width,
    source.height,
    source.format as AVPixelFormat,
    width,
    height,
    target.format,
    SWS_BILINEAR,
  )
  FFmpegError.throwIfError(scaler.scaleFrameSync(target, source), 'scale')
  return target
}

function encodeJpeg(frame: Frame): Buffer {
  const codec = Codec.findEncoderByName(FF_ENCODER_MJPEG)
  assert.ok(codec)
  using context = new CodecContext()
  context.allocContext3(codec)
  context.width = frame.width
  context.height = frame.height
  context.pixelFormat = AV_PIX_FMT_YUVJ420P
  context.timeBase = new Rational(1, 1)
  context.threadCount = 1
  FFmpegError.throwIfError(context.open2Sync(codec), 'open the JPEG encoder')
  FFmpegError.throwIfError(context.sendFrameSync(frame), 'encode a JPEG')
  using packet = new Packet()
  packet.alloc()
  FFmpegError.throwIfError(context.receivePacketSync(packet), 'encode a JPEG')
  return Buffer.from(packet.data ?? [])
}
