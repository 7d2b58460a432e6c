// A segment: one recorded file of about a minute, and the fragments inside it. The index row, free of any database.

/** A run of frames in the file that was written at once: one `moof` and its `mdat`, normally one group of pictures. */
export type Fragment = {
  /** Byte range in the file. */
  readonly offset: number
  readonly bytes: number
  /** Video decode time of the first frame, 90 kHz ticks since the file's first frame. */
  readonly start90k: number
  readonly duration90k: number
  /** Wall clock of the first frame, Unix milliseconds. */
  readonly startMs: number
  readonly durationMs: number
  /** False only where a long group of pictures was split: a decoder cannot start here. */
  readonly isKey: boolean
  /** Set when no video frame arrived for more than a second just before the fragment. */
  readonly hole?: FragmentHole | undefined
  /** Set when some of its frames are damaged: parts of them, or of frames they refer to, were lost. */
  readonly isDamaged?: true | undefined
}

/** A time without video inside a run, just before a fragment. */
export type FragmentHole = {
  readonly durationMs: number
  /** As in the timeline. */
  readonly reason: string
  /**
   * True: the file leaves the time out. Its decode times go on `holeSeam90k` after the fragment before. False: the
   * frame before the hole lasts through it.
   */
  readonly isCut: boolean
}

/**
 * Decode time left between the two sides of a hole that was cut, so that audio that is longer than its video
 * does not overlap.
 */
export const holeSeam90k = 13_500

/** Where the footage of a file ends. */
export function endOfFootage({ initBytes, fragments }: Pick<Segment, 'initBytes' | 'fragments'>): number {
  const last = fragments.at(-1)
  return last ? last.offset + last.bytes : initBytes
}

export type Segment = {
  readonly id: number
  readonly cameraId: number
  /** Segments of one run share a time axis and can be played without a seam. */
  readonly runId: string
  /** Position of the file's first frame on the run's axis, 90 kHz ticks. */
  readonly runStart90k: number
  /** Where the file is; see place.ts. */
  readonly placeId: number
  /** Relative to the folder of its place. */
  readonly path: string
  /** Wall clock, Unix milliseconds; `endMs` is the end of the last complete fragment. */
  readonly startMs: number
  readonly endMs: number
  /** Whole file so far. A closed file ends with an index behind its footage, unless it was cut off or is older. */
  readonly bytes: number
  /** Length of `ftyp` and `moov` at the head of the file: the HLS initialization section. */
  readonly initBytes: number
  /** RFC 6381 codecs, comma separated, for instance `avc1.4d401f,mp4a.40.2`. */
  readonly codecs: string
  readonly width: number
  readonly height: number
  /** Equal for segments whose initialization sections are interchangeable. */
  readonly initHash: string
  readonly fragments: readonly Fragment[]
  /**
   * CRC-32 of the checksums of all fragments; undefined while it is open, and for files from before there were
   * checksums.
   */
  readonly checksum?: number | undefined
  /** False while the recorder still appends. */
  readonly isClosed: boolean
  /** How often the clock had been set back before; undefined: never. See clock-epoch.ts. */
  readonly epoch?: number | undefined
  /** Why there was no footage just before this segment; undefined when it continues the one before. */
  readonly gapReason: string | undefined
}
