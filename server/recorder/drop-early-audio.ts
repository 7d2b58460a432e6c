// A file begins with its first frame of video: audio of a fragment that began before it is dropped. Such audio occurs
// if it arrived too late for the fragment that it belongs to.

import type { CutFragment } from '../media/mp4/fragment-cutter.ts'
import { scaleTicks } from '../media/mp4/timescale.ts'

/**
 * Returns the fragment without audio before its first video frame. `sampleRate`: that of the audio track, if there is
 * one.
 */
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
