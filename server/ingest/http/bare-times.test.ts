import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { hevcNalTypeOf } from '../../media/h265/nal-unit.ts'
import { listAnnexBNalUnits } from '../../media/nal/nal-units.ts'
import { BareTimes } from './bare-times.ts'

const fps = 25

/** Access units of FFmpeg's encoders in decode order. Each begins with a delimiter. */
function encode(codec: 'h264' | 'h265', options: string): Uint8Array[][] {
  const source = ['-f', 'lavfi', '-i', `testsrc2=size=64x64:rate=${fps}`, '-frames:v', '150']
  const encoder =
    codec === 'h264'
      ? ['-c:v', 'libx264', '-x264-params', `aud=1:keyint=50:scenecut=0:${options}`, '-f', 'h264']
      : [
          '-c:v',
          'libx265',
          '-x265-params',
          `log-level=error:aud=1:pools=1:keyint=50:scenecut=0:${options}`,
          '-f',
          'hevc',
        ]
  const args = ['-v', 'error', '-nostdin', ...source, '-preset', 'veryfast', '-pix_fmt', 'yuv420p', ...encoder, '-']
  const list: Uint8Array[][] = []
  for (const unit of listAnnexBNalUnits(execFileSync('ffmpeg', args, { maxBuffer: 1e8 }))) {
    const isDelimiter = codec === 'h264' ? (unit[0]! & 31) === 9 : hevcNalTypeOf(unit[0]!) === 35
    if (isDelimiter) list.push([])
    else list.at(-1)!.push(unit)
  }
  return list
}

/** The display position of each frame, in decode order, according to FFmpeg's decoder. */
function placesOf(codec: 'h264' | 'h265', list: readonly Uint8Array[][]): number[] {
  const startCode = Buffer.from([0, 0, 0, 1])
  const bytes = Buffer.concat(list.flat().flatMap((unit) => [startCode, unit]))
  const format = codec === 'h264' ? 'h264' : 'hevc'
  const args = [
    '-v',
    'error',
    '-f',
    format,
    '-show_entries',
    'frame=coded_picture_number,pkt_pos',
    '-of',
    'csv=p=0',
    '-',
  ]
  const out = execFileSync('ffprobe', args, { input: bytes, maxBuffer: 1e8 }).toString()
  const positions = [...out.matchAll(/^(\d+)/gm)].map(([, position]) => Number(position))
  const decoded = [...positions].sort((a, b) => a - b)
  return decoded.map((position) => positions.indexOf(position))
}

const streams = [
  { codec: 'h264', options: 'bframes=3' },
  { codec: 'h264', options: 'bframes=3:b-pyramid=strict:open-gop=1' },
  { codec: 'h265', options: 'bframes=3:open-gop=1' },
  { codec: 'h265', options: 'bframes=3:open-gop=0' },
  { codec: 'h265', options: 'bframes=3:open-gop=0:radl=2' },
] as const

for (const { codec, options } of streams) {
  test(`frames of a bare ${codec} stream (${options}) are displayed in order, at even intervals`, () => {
    const list = encode(codec, options)
    const places = placesOf(codec, list)
    assert.equal(list.length, 150)
    assert.equal(places.length, 150)
    const times = new BareTimes(codec)
    const frame90k = 90_000 / fps
    const times90k = list.map((units, i) => times.take(units, 1e9 + i * frame90k))
    const sorted = [...times90k].sort((a, b) => a - b)
    assert.deepEqual(
      times90k.map((time) => sorted.indexOf(time)),
      places,
    )
    const settled = sorted.slice(60)
    for (const [i, time] of settled.entries()) {
      if (i > 0) assert.ok(Math.abs(time - settled[i - 1]! - frame90k) <= 2, `step ${(time - settled[i - 1]!) / 90} ms`)
    }
    assert.ok(Math.abs(sorted.at(-1)! - times90k[0]! - 149 * frame90k) < 4 * frame90k)
  })
}

test('a stream that does not reorder frames has its times of arrival', () => {
  const list = encode('h264', 'bframes=0')
  const times = new BareTimes('h264')
  const arrivals = list.map((_, i) => 1e9 + i * 3600 + ((i * 7919) % 1800))
  assert.deepEqual(
    list.map((units, i) => times.take(units, arrivals[i]!)),
    arrivals,
  )
})
