// How large a picture on the wall has to be. Few sizes: the server makes a picture of each key frame for every size that is asked for.

export type TileSize = { readonly width: number; readonly height: number }

const sizes: readonly TileSize[] = [
  { width: 320, height: 180 },
  { width: 480, height: 270 },
  { width: 640, height: 360 },
  { width: 960, height: 540 },
]

/** As the style sheet has them: tiles of few cameras are larger. */
const minTileWidth = { many: 288, few: 416 } as const
const gap = 16
/** Beyond that nobody sees a difference in a small picture that moves. */
const maxPixelRatio = 1.5

/** As wide as the tiles of a wall of this width come out, in pixels of the screen. */
export function findTileSize(wallWidth: number, pixelRatio: number, count: 'many' | 'few'): TileSize {
  const columns = Math.max(1, Math.floor((wallWidth + gap) / (minTileWidth[count] + gap)))
  const wanted = ((wallWidth - gap * (columns - 1)) / columns) * Math.min(pixelRatio, maxPixelRatio)
  return sizes.find(({ width }) => width >= wanted) ?? sizes.at(-1)!
}
