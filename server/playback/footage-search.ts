// Searches the index of a camera's footage: its bounds, its timeline, the first footage of a range, and whether there
// is audio.

import type { Catalog } from '../archive/catalog.ts'
import type { Clock } from '../base/clock.ts'
import type { GapMark } from '../model/gap-mark.ts'
import type { FootageBounds, SegmentSpan } from '../model/segment-views.ts'
import { buildTimeline, type Timeline } from '../model/timeline.ts'

export type FootageSearchOptions = {
  readonly catalog: Pick<Catalog, 'bounds' | 'listSpans' | 'hasAudio'>
  readonly clock: Clock
  /** Returns the last mark at or before `startMs` and all marks up to `endMs`, in order. Default: no marks. */
  listGapMarks?(cameraId: number, startMs: number, endMs: number): Promise<readonly GapMark[]>
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** The next footage after a range is usually in a file of a minute. If it is not, longer and longer ranges are searched. */
const nextSpanSteps = { firstMs: 5 * 60_000, factor: 4, longestMs: 16 * dayMs }

/** Audio is searched in this much footage, which is as much as a stream of a whole range lists. */
const maxAudioSearchMs = 25 * hourMs

export class FootageSearch {
  readonly #options: FootageSearchOptions

  constructor(options: FootageSearchOptions) {
    this.#options = options
  }

  /** Returns the timeline of a range of any length; see `buildTimeline`. */
  async timeline(cameraId: number, startMs: number, endMs: number): Promise<Timeline> {
    const { catalog, clock } = this.#options
    const footage = await catalog.bounds(cameraId)
    const spans = await catalog.listSpans(cameraId, startMs, endMs)
    const isWithin = footage !== undefined && footage.endMs > endMs && footage.startMs < endMs
    const next = isWithin ? await this.#findNextSpan(cameraId, endMs, footage.endMs, spans.at(-1)?.epoch) : undefined
    const marks = (await this.#options.listGapMarks?.(cameraId, startMs, endMs)) ?? []
    return buildTimeline(spans, { startMs, endMs, footage, next, marks, nowMs: clock.nowMs() })
  }

  /**
   * Returns whether there is footage in the range. Gaps are crossed in growing steps. `bounds`: of all footage of the
   * camera.
   */
  async hasFootage(
    cameraId: number,
    startMs: number,
    endMs: number | undefined,
    bounds: Pick<FootageBounds, 'startMs' | 'endMs'>,
  ): Promise<boolean> {
    const { catalog } = this.#options
    const untilMs = Math.min(endMs ?? Number.POSITIVE_INFINITY, bounds.endMs)
    let stepMs = nextSpanSteps.firstMs
    for (let fromMs = Math.max(startMs, bounds.startMs); fromMs < untilMs; fromMs += stepMs, stepMs *= 2) {
      const spans = await catalog.listSpans(cameraId, fromMs, Math.min(fromMs + stepMs, untilMs))
      if (spans.length > 0) return true
    }
    return false
  }

  /**
   * Returns whether a stream of the range will have audio, as far as it is known in advance: whether its first day has
   * any or, for a stream without end, the newest hour. A stream has the same tracks from beginning to end.
   */
  async hasAudio(cameraId: number, startMs: number, endMs: number | undefined): Promise<boolean> {
    const { catalog, clock } = this.#options
    const untilMs = Math.min(endMs ?? Number.POSITIVE_INFINITY, startMs + maxAudioSearchMs)
    if (await catalog.hasAudio(cameraId, startMs, untilMs)) return true
    return endMs === undefined && catalog.hasAudio(cameraId, clock.nowMs() - hourMs, clock.nowMs() + dayMs)
  }

  /** Returns the first span of this epoch or a later one that ends after `ms` and starts before `untilMs`. */
  async #findNextSpan(cameraId: number, ms: number, untilMs: number, epoch = 0): Promise<SegmentSpan | undefined> {
    const { firstMs, factor, longestMs } = nextSpanSteps
    for (let fromMs = ms, stepMs = firstMs; fromMs < untilMs; stepMs = Math.min(stepMs * factor, longestMs)) {
      const spans = await this.#options.catalog.listSpans(cameraId, fromMs, fromMs + stepMs)
      const span = spans.find((each) => (each.epoch ?? 0) >= epoch)
      if (span) return span
      fromMs += stepMs
    }
    return undefined
  }
}
