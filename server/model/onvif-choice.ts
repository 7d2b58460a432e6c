// Chooses the main stream and the sub-stream of a camera among its profiles: the largest image, and one that is large
// enough for a tile.

export type ChosenProfile = 'main' | 'sub' | undefined

export type ProfileSize = {
  /** False for formats that this server cannot read and for profiles without a URL. */
  readonly isUsable: boolean
  readonly width: number | undefined
  readonly height: number | undefined
  /** Kilobits per second. */
  readonly bitRateKbps: number | undefined
}

/** Tiles on the wall are not larger. */
const tilePixels = 704 * 576

/**
 * The result for each profile, in the same order. Of equal ones the first, because cameras list the main one first.
 */
export function chooseProfiles(profiles: readonly ProfileSize[]): ChosenProfile[] {
  const usable = profiles.filter(({ isUsable }) => isUsable)
  const main = findBest(usable, (a, b) => pixels(a) - pixels(b) || rate(a) - rate(b))
  const rest = usable.filter((profile) => profile !== main && main && pixels(profile) < pixels(main))
  const small = rest.filter((profile) => pixels(profile) <= tilePixels)
  const sub = findBest(small, (a, b) => pixels(a) - pixels(b)) ?? findBest(rest, (a, b) => pixels(b) - pixels(a))
  return profiles.map((profile) => (profile === main ? 'main' : profile === sub ? 'sub' : undefined))
}

/** The first that no other one surpasses. */
function findBest<T>(all: readonly T[], compare: (a: T, b: T) => number): T | undefined {
  return all.reduce<T | undefined>(
    (best, each) => (best !== undefined && compare(each, best) <= 0 ? best : each),
    undefined,
  )
}

function pixels({ width = 0, height = 0 }: ProfileSize): number {
  return width * height
}

function rate({ bitRateKbps = 0 }: ProfileSize): number {
  return bitRateKbps
}
