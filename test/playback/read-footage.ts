// Plays all footage of a camera and reports problems, judged by the numbers in the frames, the times in the playlist
// and the timeline.

import { scanBoxes } from '../../server/media/mp4/box-scanner.ts'
import { parseFragmentSamples } from '../../server/media/mp4/fragment-samples.ts'
import { parseTimescales } from '../../server/media/mp4/timescale.ts'
import type { Timeline } from '../../server/model/timeline.ts'
import { readNumber, type SentFrame } from './random-footage.ts'
import type { PlayedEntry } from './stream-player.ts'

type Shown = { readonly number: number; readonly shownMs: number }

/** Returns the problems of entries that are played at normal speed. */
export function judgeStream(
  played: readonly PlayedEntry[],
  sent: readonly SentFrame[],
): { faults: string[]; shown: Shown[] } {
  const faults: string[] = []
  const shown: Shown[] = []
  let zero: { ms: number; ticks: number } | undefined
  const ends = new Map<number, number>()
  let discontinuity = -1
  for (const [index, entry] of played.entries()) {
    const timescales = parseTimescales(entry.init)
    const tracks = new Map<number, { start: number; end: number }>()
    if (entry.dateMs !== undefined) zero = undefined
    const isNewSection = entry.discontinuity !== discontinuity
    discontinuity = entry.discontinuity
    const { boxes } = scanBoxes(entry.bytes)
    const where = `entry ${index} (${entry.uri} ${entry.range?.offset ?? ''})`
    for (const box of boxes) {
      if (box.type !== 'moof') continue
      for (const track of parseFragmentSamples(entry.bytes.subarray(box.offset, box.offset + box.bytes))) {
        const scale = timescales.get(track.trackId)!
        const isVideo = track.trackId === 1
        let at = box.offset + track.dataOffset
        let dts = track.baseDecodeTime
        const before = ends.get(track.trackId)
        if (before !== undefined && dts / scale < before - 1e-4)
          faults.push(`${where} track ${track.trackId} overlaps by ${before - dts / scale} s`)
        const isHole = before !== undefined && !isNewSection && tracks.size > 0 && dts / scale > before + 0.2
        if (isHole) faults.push(`${where} track ${track.trackId} has a hole of ${dts / scale - before!} s`)
        for (const [i, size] of track.sizes.entries()) {
          if (track.durations[i]! <= 0 && i < track.sizes.length - 1)
            faults.push(`${where} track ${track.trackId}: a sample lasts ${track.durations[i]}`)
          if (isVideo) {
            const number = readNumber(entry.bytes.subarray(at, at + size))
            zero ??= { ms: entry.dateMs ?? Number.NaN, ticks: dts }
            if (entry.dateMs !== undefined && shown.length === 0) zero = { ms: entry.dateMs, ticks: dts }
            const shownMs = zero.ms + (dts - zero.ticks) / 90
            shown.push({ number, shownMs })
          }
          at += size
          dts += track.durations[i]!
        }
        const earlier = tracks.get(track.trackId)
        tracks.set(track.trackId, { start: earlier?.start ?? track.baseDecodeTime / scale, end: dts / scale })
        ends.set(track.trackId, dts / scale)
      }
    }
    const [video, audio] = [tracks.get(1), tracks.get(2)]
    if (video && timescales.has(2)) {
      if (!audio) {
        // The audio block before may extend over a few frames.
        if (video.end - video.start >= 0.15) faults.push(`${where} without audio`)
      } else {
        const isLast = played[index + 1]?.discontinuity !== discontinuity
        if (Math.abs(audio.end - video.end) > (isLast ? 0.2 : 0.5))
          faults.push(`${where} audio ends ${audio.end - video.end} s after the frame`)
        if (Math.abs(audio.start - video.start) > (isNewSection ? 0.2 : 0.5))
          faults.push(`${where} audio begins ${audio.start - video.start} s after the frame`)
      }
    }
  }
  let last = -1
  for (const { number, shownMs } of shown) {
    if (number <= last) faults.push(`frame ${number} after ${last}`)
    last = number
    const errorMs = shownMs - sent[number]!.wallMs
    if (Math.abs(errorMs) > 500) faults.push(`frame ${number} is shown ${errorMs} ms late`)
  }
  return { faults, shown }
}

/** Reports frames that are missing without a gap, and recorded frames inside a gap. */
export function judgeTimeline(
  { segments, gaps }: Timeline,
  shown: readonly Shown[],
  sent: readonly SentFrame[],
  isClockSteady: boolean,
): string[] {
  const faults: string[] = []
  const recorded = new Set(shown.map(({ number }) => number))
  for (const frame of sent) {
    const { number, wallMs, missingMs, isPause, isDoubtful } = frame
    const isThere = recorded.has(number)
    if (!isThere && !isDoubtful) faults.push(`frame ${number} is not recorded`)
    if (!isClockSteady) continue
    const inSegment = segments.some(({ startMs, endMs }) => wallMs >= startMs && wallMs <= endMs)
    const inGap = gaps.find(({ startMs, endMs }) => wallMs > startMs + 1000 && wallMs < endMs - 1000)
    if (isThere && !inSegment) faults.push(`frame ${number} is in no segment`)
    if (isThere && inGap) faults.push(`frame ${number} is in a gap ${inGap.reason}`)
    if (
      !isThere &&
      number > shown[0]!.number &&
      !gaps.some(({ startMs, endMs }) => wallMs >= startMs - 2500 && wallMs <= endMs + 2500)
    )
      faults.push(`frame ${number} is in no segment and no gap`)
    if (isThere && !isPause && missingMs > 2000 && number > 0 && recorded.has(number - 1)) {
      const isReported = gaps.some(({ startMs, endMs }) => startMs < wallMs + 500 && endMs > wallMs - missingMs - 500)
      if (!isReported) faults.push(`before frame ${number} ${missingMs} ms are missing without a gap`)
    }
  }
  return faults
}
