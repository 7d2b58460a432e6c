// Which places there are, and where their files are. One object on the main thread; commands have their own.

import { join } from 'node:path'
import { AppError } from '../base/error.ts'
import type { Place } from '../model/place.ts'
import type { FileLocation } from '../model/segment-views.ts'
import { isPresent } from './place-folder.ts'

export class Places {
  #all: readonly Place[]

  constructor(all: readonly Place[]) {
    this.#all = all
  }

  /** In the order of their ids. */
  get all(): readonly Place[] {
    return this.#all
  }

  /** Call it when the rows have changed. */
  replace(all: readonly Place[]): void {
    this.#all = all
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

  /** Whether the disk of a place is there. Files of one that is away are not lost. */
  async isPresent(placeId: number): Promise<boolean> {
    const place = this.#all.find(({ id }) => id === placeId)
    return place !== undefined && isPresent(place)
  }

  /** Those whose disks are there. */
  async listPresent(): Promise<Place[]> {
    const present = await Promise.all(this.#all.map(isPresent))
    return this.#all.filter((_, i) => present[i])
  }
}
