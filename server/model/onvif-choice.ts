// Which profiles of a camera are its main stream and its sub-stream: the largest picture, and one that is enough for a
// tile.

export type ChosenProfile = 'main' | 'sub' | undefined

export type ProfileSize = {
  /** False for what this server cannot read, and for profiles without an address. */
  readonly isUsable: boolean
  readonly width: number | undefined
  readonly height: number | undefined
  /** Kilobits per second. */
  readonly bitRateKbps: number | undefined
}

/** A tile of a wall is not larger. */
const tilePixels = 704 * 576

/**
 * For each profile, in the same order. Of equals the first, which is the one that cameras list first for this reason.
 */
export function chooseProfiles(profiles: readonly ProfileSize[]): ChosenProfile[] {
  const usable = profiles.filter(({ isUsable }) => isUsable)
  const main = findBest(usable, (a, b) => pixels(a) - pixels(b) || rate(a) - rate(b))
  const rest = usable.filter((profile) => profile !== main && main && pixels(profile) < pixels(main))
  const small = rest.filter((profile) => pixels(profile) <= tilePixels)
  const sub = findBest(small, (a, b) => pixels(a) - pixels(b)) ?? findBest(rest, (a, b) => pixels(b) - pixels(a))
  return profiles.map((profile) => (profile === main ? 'main' : profile === sub ? 'sub' : undefined))
}

/** The first that no other is better than. */
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
