// Holes before fragments that are not finished yet. There are several at the same time if a camera pauses again just
// after a pause.

import type { CutFragment } from '../media/mp4/fragment-cutter.ts'
import type { FragmentHole } from '../model/segment.ts'

type OpenHole = { readonly values: FragmentHole; readonly isProven: boolean }

export class OpenHoles {
  /** Holes by the decode time of the fragment after them. */
  readonly #holes = new Map<number, OpenHole>()

  /**
   * Notes a hole before the fragment that begins at `start90k`. Unless it is proven, the fragment shows whether it was
   * a hole.
   */
  note(start90k: number, values: FragmentHole, isProven: boolean): void {
    this.#holes.set(start90k, { values, isProven })
  }

  isBefore(start90k: number): boolean {
    return this.#holes.has(start90k)
  }

  /** Removes and returns the hole before a finished fragment. */
  take(cut: CutFragment): FragmentHole | undefined {
    const hole = this.#holes.get(cut.start90k)
    this.#holes.delete(cut.start90k)
    return hole && (hole.isProven || isRhythmRestored(cut, hole.values)) ? hole.values : undefined
  }

  /** Forgets all holes: the fragments after them will not come. */
  clear(): void {
    this.#holes.clear()
  }
}

/** A camera that has begun to send fewer frames has no hole. */
function isRhythmRestored({ video, duration90k }: CutFragment, { durationMs }: FragmentHole): boolean {
  return video.length >= 3 && duration90k / video.length <= (durationMs * 90) / 4
}
