// Plays a whole range of a camera by HTTP, from the playlist to the pixels, and says which pictures it showed and when, by
// the wall clock that the playlist tells.

import type { FrameCounter } from '../fake-camera/frame-counter.ts'
import { type DecodedFrame, decodeFrames } from './decode-frames.ts'
import type { HttpReader } from './http-reader.ts'
import { parseSections, type Section } from './playlist-sections.ts'

export type PlayedFrame = {
  /** What it says of itself, in its bitstream or, without such a place, in its pixels; undefined: nothing that can be read. */
  readonly taken: FrameCounter | undefined
  /** Its pixels say something else than its bitstream, or nothing. */
  readonly isSpoilt: boolean
  /** Wall clock by the playlist, Unix milliseconds. */
  readonly shownMs: number
  /** Pictures of two sections have a discontinuity between them. */
  readonly section: number
}

export type PlayedRecording = {
  /** In the order of playing. */
  readonly pictures: readonly PlayedFrame[]
  readonly sections: number
  /** What the decoder complained about, by section. */
  readonly complaints: readonly string[]
}

export type TimeRange = { readonly startMs: number; readonly endMs: number }

const isoTime = (ms: number) => new Date(ms).toISOString()

/** `hasCounter`: the bitstream carries numbers, as H.264 and H.265 do. */
export async function playRecording(
  http: HttpReader,
  cameraId: number,
  { startMs, endMs }: TimeRange,
  hasCounter: boolean,
): Promise<PlayedRecording> {
  const range = `start=${isoTime(startMs)}&end=${isoTime(endMs)}`
  const { url } = await http.getJson<{ url: string }>(`/v1/cameras/${cameraId}/recording/stream/?${range}`)
  const { sections } = parseSections((await http.getBytes(url)).toString(), url)
  const pictures: PlayedFrame[] = []
  const complaints: string[] = []
  for (const [index, section] of sections.entries()) {
    const played = await playSection(http, section)
    complaints.push(...played.complaints.map((line) => `section ${index}: ${line}`))
    for (const picture of played.pictures) pictures.push(judgeMarks(picture, index, hasCounter))
  }
  return { pictures, sections: sections.length, complaints }
}

type Shown = DecodedFrame & { readonly shownMs: number }

async function playSection(http: HttpReader, section: Section): Promise<{ pictures: Shown[]; complaints: string[] }> {
  const { map, entries } = section
  const parts = [await http.getBytes(map.url, map.range)]
  for (const { url, range } of entries) parts.push(await http.getBytes(url, range))
  const { pictures, complaints } = await decodeFrames(Buffer.concat(parts))
  // An entry's wall clock is that of its first picture: the one that is shown first of those whose bytes lie in it.
  const starts: number[] = []
  let end = parts[0]!.length
  for (const part of parts.slice(1)) {
    starts.push(end)
    end += part.length
  }
  const entryOf = ({ offset }: DecodedFrame) => starts.findLastIndex((start) => offset >= start)
  const firstSeconds = new Map<number, number>()
  for (const picture of pictures) {
    const entry = entryOf(picture)
    firstSeconds.set(entry, Math.min(picture.ptsSeconds, firstSeconds.get(entry) ?? Number.POSITIVE_INFINITY))
  }
  return {
    complaints,
    pictures: pictures.map((picture) => {
      const entry = entryOf(picture)
      const shownMs = entries[entry]!.startMs + (picture.ptsSeconds - firstSeconds.get(entry)!) * 1000
      return { ...picture, shownMs }
    }),
  }
}

function judgeMarks({ carried, shown, shownMs }: Shown, section: number, hasCounter: boolean): PlayedFrame {
  const taken = hasCounter ? carried : shown
  const isSpoilt = !taken || shown?.frameNumber !== taken.frameNumber || shown.unixMs !== taken.unixMs
  return { taken, isSpoilt, shownMs, section }
}
