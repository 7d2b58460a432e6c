// A program for tests that draws, encodes and inspects images with FFmpeg in a separate process. Prints one JSON
// object.
//   draw CODEC(h264|mjpeg) WIDTH HEIGHT COLORS(bt709|bt601|unset)   one key frame with four colored quarters
//   inspect                                                         size and quarters of the JPEG on standard input

import { readFileSync } from 'node:fs'
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_ID_MJPEG,
  AV_LOG_QUIET,
  AV_PIX_FMT_RGB24,
  AV_PIX_FMT_YUV420P,
  AVCOL_RANGE_JPEG,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT470BG,
  AVCOL_SPC_BT709,
  AVCOL_SPC_RGB,
  AVCOL_SPC_UNSPECIFIED,
  type AVColorRange,
  type AVColorSpace,
  type AVPixelFormat,
  FF_ENCODER_LIBX264,
  FF_ENCODER_MJPEG,
} from 'node-av/constants'
import { Codec, CodecContext, Frame, Log, Packet, Rational, SoftwareScaleContext } from 'node-av/lib'

export type Rgb = readonly [number, number, number]

/** The input of `DecodeRequest`, in base64. */
export type DrawnImage = { readonly config: string; readonly data: string }

export type InspectedImage = { readonly width: number; readonly height: number; readonly quarters: readonly Rgb[] }

/** Top left, top right, bottom left, bottom right. */
export const quarterColors: readonly Rgb[] = [
  [200, 30, 30],
  [30, 200, 30],
  [30, 30, 200],
  [128, 128, 128],
]

if (import.meta.main) {
  const [command, codec = 'h264', width = '640', height = '360', colors = 'unset'] = process.argv.slice(2)
  Log.setLevel(AV_LOG_QUIET)
  const result = command === 'draw' ? draw(codec, Number(width), Number(height), colors) : inspect(readFileSync(0))
  process.stdout.write(JSON.stringify(result))
}

function draw(codecName: string, width: number, height: number, colors: string): DrawnImage {
  const isH264 = codecName === 'h264'
  // Unset: the default that browsers assume.
  const is709 = isH264 && (colors === 'bt709' || (colors === 'unset' && height >= 720))
  const space = is709 ? AVCOL_SPC_BT709 : AVCOL_SPC_BT470BG
  const range = isH264 ? AVCOL_RANGE_MPEG : AVCOL_RANGE_JPEG
  const rgb = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      rgb.set(quarterColors[(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)]!, (y * width + x) * 3)
    }
  }
  const source = createFrame(width, height, AV_PIX_FMT_RGB24, AVCOL_RANGE_JPEG, AVCOL_SPC_RGB)
  check(source.fromBuffer(rgb))
  const converted = convert(source, AV_PIX_FMT_YUV420P, range, space)

  const codec = Codec.findEncoderByName(isH264 ? FF_ENCODER_LIBX264 : FF_ENCODER_MJPEG)!
  const encoder = new CodecContext()
  encoder.allocContext3(codec)
  encoder.width = width
  encoder.height = height
  encoder.pixelFormat = AV_PIX_FMT_YUV420P
  encoder.colorRange = range
  encoder.colorSpace = colors === 'unset' ? AVCOL_SPC_UNSPECIFIED : space
  encoder.timeBase = new Rational(1, 25)
  encoder.threadCount = 1
  if (isH264) encoder.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER)
  check(encoder.open2Sync(codec))
  converted.colorSpace = encoder.colorSpace
  converted.pts = 0n
  check(encoder.sendFrameSync(converted))
  check(encoder.sendFrameSync(null))
  const packet = new Packet()
  packet.alloc()
  check(encoder.receivePacketSync(packet))
  const bytes = Buffer.from(packet.data!)
  const parameterSets = Buffer.from(encoder.extraData ?? [])
  if (!isH264) return { config: '', data: bytes.toString('base64') }
  const slices = splitAnnexB(bytes).filter((nal) => (nal[0]! & 0x1f) <= 5)
  const data = Buffer.concat(slices.flatMap((nal) => [u32(nal.length), nal]))
  return { config: toAvcRecord(parameterSets).toString('base64'), data: data.toString('base64') }
}

function inspect(jpeg: Buffer): InspectedImage {
  const codec = Codec.findDecoder(AV_CODEC_ID_MJPEG)!
  const decoder = new CodecContext()
  decoder.allocContext3(codec)
  check(decoder.open2Sync(codec))
  const packet = new Packet()
  packet.alloc()
  packet.data = jpeg
  check(decoder.sendPacketSync(packet))
  const frame = new Frame()
  frame.alloc()
  check(decoder.receiveFrameSync(frame))
  const { width, height } = frame
  // JPEG does not state these; browsers use full-range BT.601 (ITU-T T.871).
  frame.colorSpace = AVCOL_SPC_BT470BG
  frame.colorRange = AVCOL_RANGE_JPEG
  const rgb = convert(frame, AV_PIX_FMT_RGB24, AVCOL_RANGE_JPEG, AVCOL_SPC_RGB).toBuffer()
  const quarters = quarterColors.map((_, i): Rgb => {
    const x = Math.floor(width * (i % 2 === 0 ? 0.25 : 0.75))
    const y = Math.floor(height * (i < 2 ? 0.25 : 0.75))
    const at = (y * width + x) * 3
    return [rgb[at]!, rgb[at + 1]!, rgb[at + 2]!]
  })
  return { width, height, quarters }
}

function createFrame(
  width: number,
  height: number,
  format: AVPixelFormat,
  range: AVColorRange,
  space: AVColorSpace,
): Frame {
  const frame = new Frame()
  frame.alloc()
  frame.width = width
  frame.height = height
  frame.format = format
  frame.colorRange = range
  frame.colorSpace = space
  check(frame.getBuffer())
  return frame
}

function convert(source: Frame, format: AVPixelFormat, range: AVColorRange, space: AVColorSpace): Frame {
  const target = createFrame(source.width, source.height, format, range, space)
  const scaler = new SoftwareScaleContext()
  scaler.allocContext()
  check(scaler.scaleFrameSync(target, source))
  return target
}

function splitAnnexB(bytes: Buffer): Buffer[] {
  const starts: number[] = []
  for (let at = bytes.indexOf('000001', 0, 'hex'); at >= 0; at = bytes.indexOf('000001', at + 3, 'hex')) starts.push(at)
  return starts.map((start, i) => {
    let end = starts[i + 1] ?? bytes.length
    while (i + 1 < starts.length && bytes[end - 1] === 0) end--
    return bytes.subarray(start + 3, end)
  })
}

function toAvcRecord(annexB: Buffer): Buffer {
  const nals = splitAnnexB(annexB)
  const sps = nals.find((nal) => (nal[0]! & 0x1f) === 7)!
  const pps = nals.find((nal) => (nal[0]! & 0x1f) === 8)!
  const head = Buffer.from([1, sps[1]!, sps[2]!, sps[3]!, 0xff, 0xe1])
  return Buffer.concat([head, u32(sps.length).subarray(2), sps, Buffer.from([1]), u32(pps.length).subarray(2), pps])
}

function u32(value: number): Buffer {
  const out = Buffer.alloc(4)
  out.writeUInt32BE(value)
  return out
}

function check(result: number): void {
  if (result < 0) throw new Error(`FFmpeg error ${result}`)
}
