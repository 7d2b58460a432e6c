// FFmpeg as the foreign decoder: a stretch of fragmented MP4 goes in, and of each picture that it shows comes out when, from
// which byte, which number its bitstream carries (SEI), and what can be read in its pixels.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type FrameCounter, readFrameCounter, writeFrameCounter } from '../fake-camera/frame-counter.ts'
import { readTimeCode } from '../fake-camera/time-code.ts'

export type DecodedFrame = {
  readonly ptsSeconds: number
  /** Where its bytes begin in what was given to the decoder. */
  readonly offset: number
  /** As carried in the bitstream; undefined where there is none, as in JPEG, or it was damaged. */
  readonly carried: FrameCounter | undefined
  /** As drawn in the picture; undefined when it cannot be read. */
  readonly shown: FrameCounter | undefined
}

type Described = Omit<DecodedFrame, 'shown'> & { readonly width: number; readonly height: number }

/** Every picture, in the order of showing. A stretch of which FFmpeg cannot show any has none, and what FFmpeg said of it. */
export async function decodeFrames(bytes: Uint8Array): Promise<{ pictures: DecodedFrame[]; complaints: string[] }> {
  const output = [
    '-map',
    '0:v:0',
    '-vf',
    'showinfo,format=gray',
    '-fps_mode',
    'passthrough',
    '-f',
    'rawvideo',
    'pipe:1',
  ]
  const args = ['-v', 'level+info', '-hide_banner', '-nostats', '-copyts', '-threads', '1', '-i', 'pipe:0', ...output]
  const decoder = spawn('ffmpeg', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve, reject) => {
    decoder.on('error', reject)
    decoder.on('close', resolve)
  })
  const described: Described[] = []
  const complaints: string[] = []
  const isDescribed = readDescriptions(createInterface(decoder.stderr), described, complaints)
  // It may end before it has read everything: why is in its complaints.
  decoder.stdin.on('error', () => {})
  decoder.stdin.end(bytes)
  const shown: (FrameCounter | undefined)[] = []
  let rest: Buffer = Buffer.alloc(0)
  let size: { width: number; height: number } | undefined
  for await (const chunk of decoder.stdout as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    // The description of a picture may come after its pixels: they wait.
    size ??= described[0]
    if (!size) continue
    rest = readPixels(rest, size, shown)
  }
  const code = await ended
  await isDescribed
  size ??= described[0]
  if (size) readPixels(rest, size, shown)
  if (code !== 0 && described.length > 0)
    throw new Error(`ffmpeg ended with code ${code}: ${complaints.slice(-5).join('; ')}`)
  if (code !== 0 && complaints.length === 0) throw new Error(`ffmpeg ended with code ${code} without a word`)
  if (shown.length !== described.length)
    throw new Error(`ffmpeg described ${described.length} pictures and gave ${shown.length}`)
  return { pictures: described.map((picture, i) => ({ ...picture, shown: shown[i] })), complaints }
}

function readPixels(
  bytes: Buffer,
  { width, height }: { readonly width: number; readonly height: number },
  shown: (FrameCounter | undefined)[],
): Buffer {
  const pictureBytes = width * height
  let at = 0
  for (; at + pictureBytes <= bytes.length; at += pictureBytes)
    shown.push(readTimeCode(bytes.subarray(at, at + pictureBytes), width, height))
  return bytes.subarray(at)
}

/** The lines of the filter `showinfo`: one for each picture, followed by what its bitstream carried beside it. */
async function readDescriptions(lines: AsyncIterable<string>, described: Described[], complaints: string[]) {
  for await (const line of lines) {
    const picture = /showinfo.*\bpts_time:(\S+).*\bpos: *(-?\d+).*\bs:(\d+)x(\d+)/.exec(line)
    if (picture) {
      const [ptsSeconds, offset, width, height] = picture.slice(1).map(Number) as [number, number, number, number]
      // Gray pictures have the size of the first one: FFmpeg scales those that follow.
      described.push({ ptsSeconds, offset, carried: undefined, width, height })
      continue
    }
    const carried = /User Data=([0-9a-f]+)/.exec(line)?.[1]
    const last = described.at(-1)
    if (carried && last) described[described.length - 1] = { ...last, carried: parseCarried(carried) }
    else if (/\[(error|fatal)\]/.test(line)) complaints.push(line)
  }
}

/** FFmpeg prints the message without its UUID: it is put back in front. */
function parseCarried(hex: string): FrameCounter | undefined {
  const text = Buffer.from(hex, 'hex')
  const whole = Buffer.from(writeFrameCounter({ frameNumber: 0, unixMs: 0 }))
  text.copy(whole, whole.length - 1 - 24)
  const counter = readFrameCounter(whole)
  return counter && Number.isFinite(counter.frameNumber) && Number.isFinite(counter.unixMs) ? counter : undefined
}
