// Where new files are created. Several places share them in proportion to their weights, file by file, so that all disks
// fill equally fast and keep footage for the same time. A place whose disk has just failed comes last.

import type { Clock } from '../base/clock.ts'
import { errorChain } from '../base/error.ts'
import type { Logger } from '../base/log.ts'
import type { Place } from '../model/place.ts'
import { isRefusedAsFull } from './disk-error.ts'
import type { RecordingDisk } from './recording-disk.ts'

export type RecordingTarget = {
  readonly placeId: number
  readonly folder: string
  readonly disk: RecordingDisk
}

export type RecordingTargets = {
  /** Where the next file should be created, best first. */
  choose(): readonly RecordingTarget[]
  /** A file was created there, or an operation failed. Returns whether there is another place that works. */
  report(target: RecordingTarget, error?: unknown): boolean
}

/** For one place that does not change. */
export function createSingleTarget(target: RecordingTarget): RecordingTargets {
  return { choose: () => [target], report: () => false }
}

type Member = {
  readonly place: Place
  readonly target: RecordingTarget
  /** The member with the most takes the next file. */
  credit: number
  isFailing: boolean
  retryAtMs: number
}

/** After a failure, other places are tried first for this long. */
const failureMs = 10_000

export class SpreadTargets implements RecordingTargets {
  readonly #clock: Clock
  readonly #log: Logger
  readonly #onFull: ((placeId: number) => void) | undefined
  #members: Member[] = []

  /** `onFull`: called when the system has no room for a file or its content, with the id of the place. */
  constructor(clock: Clock, log: Logger, onFull?: (placeId: number) => void) {
    this.#clock = clock
    this.#log = log
    this.#onFull = onFull
  }

  /** Also while there are recorders: their open files stay where they are. */
  replace(all: readonly { readonly place: Place; readonly target: RecordingTarget }[]): void {
    this.#members = all.map(({ place, target }) => {
      const before = this.#members.find((member) => member.place.id === place.id)
      const { credit = 0, isFailing = false, retryAtMs = 0 } = before ?? {}
      return { place, target, credit, isFailing, retryAtMs }
    })
  }

  /** A place that is being drained takes files only when no other can. */
  choose(): readonly RecordingTarget[] {
    const open = this.#members.filter((member) => !member.place.isDraining && !this.#isLast(member))
    const total = open.reduce((sum, { place }) => sum + place.weight, 0)
    for (const member of open) member.credit += member.place.weight
    open.sort((a, b) => b.credit - a.credit)
    if (open[0]) open[0].credit -= total
    const rest = this.#members
      .filter((member) => !open.includes(member))
      .sort((a, b) => Number(a.place.isDraining) - Number(b.place.isDraining))
    return [...open, ...rest].map(({ target }) => target)
  }

  report({ placeId }: RecordingTarget, error?: unknown): boolean {
    if (isRefusedAsFull(error)) this.#onFull?.(placeId)
    const member = this.#members.find(({ place }) => place.id === placeId)
    if (member && error === undefined) {
      if (member.isFailing) this.#log.info({ folder: member.place.folder }, 'files are recorded in this place again')
      member.isFailing = false
      member.retryAtMs = 0
    } else if (member) {
      if (!member.isFailing && this.#members.length > 1)
        this.#log.warn(
          { folder: member.place.folder, error: errorChain(error) },
          'recording in this place failed; new files go to others',
        )
      member.isFailing = true
      member.retryAtMs = this.#clock.monotonicMs() + failureMs
    }
    return this.#members.some((other) => other !== member && !this.#isLast(other))
  }

  #isLast({ retryAtMs }: Member): boolean {
    return this.#clock.monotonicMs() < retryAtMs
  }
}
