// A file begins with its first picture: audio of a fragment that began before it stays out. It is there when it came too late for the
// fragment that it belongs to.

import { scaleTicks } from '../media/mp4/timescale.ts'
import type { CutFragment } from './fragment-cutter.ts'

/** The fragment without the audio before its first picture. `sampleRate`: of the audio, where there is a track for it. */
export function dropEarlyAudio<T extends CutFragment>(cut: T, sampleRate: number | undefined): T {
  if (sampleRate === undefined || cut.audio.length === 0) return cut
  const start = scaleTicks(cut.start90k, sampleRate)
  let { audioStart, bytes } = cut
  let count = 0
  while (count < cut.audio.length && audioStart < start) {
    const { data, duration } = cut.audio[count]!
    audioStart += duration
    bytes -= data.length
    count++
  }
  return count === 0 ? cut : { ...cut, audioStart, bytes, audio: cut.audio.slice(count) }
}
