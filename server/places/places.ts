// Which places there are, and where their files are. One object on the main thread; commands have their own.

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../base/clock.ts'
import { settlesWithin } from '../base/deadline.ts'
import { AppError } from '../base/error.ts'
import type { Place } from '../model/place.ts'
import type { FileLocation } from '../model/segment-views.ts'
import { findState, type PlaceState } from './place-folder.ts'

/** A disk that does not answer within this time counts as away. */
const answerMs = 3000

export class Places {
  #all: readonly Place[]
  /** Checks in progress, by place. */
  readonly #checks = new Map<number, Promise<PlaceState>>()

  constructor(all: readonly Place[]) {
    this.#all = all
  }

  /** In the order of their ids. */
  get all(): readonly Place[] {
    return this.#all
  }

  /** Call it when the rows may have changed. Returns whether they have. */
  replace(all: readonly Place[]): boolean {
    if (isDeepStrictEqual(all, this.#all)) return false
    this.#all = all
    return true
  }

  /** Throws 'unavailable' for a place that is not known. */
  folderOf(placeId: number): string {
    const place = this.#all.find(({ id }) => id === placeId)
    if (!place) throw new AppError('unavailable', `place ${placeId} of the recordings is not known`)
    return place.folder
  }

  /** The whole path of a file, or of a folder in a place. */
  pathOf({ placeId, path }: FileLocation): string {
    return join(this.folderOf(placeId), path)
  }

  /** A disk that hangs delays this by a few seconds, and occupies one thread. */
  async findState(place: Place): Promise<PlaceState> {
    let check = this.#checks.get(place.id)
    if (!check) {
      check = findState(place).finally(() => this.#checks.delete(place.id))
      this.#checks.set(place.id, check)
    }
    return (await settlesWithin(check, answerMs, systemClock)) ? await check : 'silent'
  }

  /** Whether the disk of a place is there. Files of one that is away are not lost. */
  async isPresent(placeId: number): Promise<boolean> {
    const place = this.#all.find(({ id }) => id === placeId)
    return place !== undefined && isThere(await this.findState(place))
  }

  /** Those whose disks are there. */
  async listPresent(): Promise<Place[]> {
    const states = await Promise.all(this.#all.map((place) => this.findState(place)))
    return this.#all.filter((_, i) => isThere(states[i]!))
  }
}

function isThere(state: PlaceState): boolean {
  return state === 'ready' || state === 'read_only'
}
