// How large a picture on the wall has to be. Few sizes: the server makes a picture of each key frame for every size that is asked for.

export type TileSize = { readonly width: number; readonly height: number }

const sizes: readonly TileSize[] = [
  { width: 320, height: 180 },
  { width: 480, height: 270 },
  { width: 640, height: 360 },
  { width: 960, height: 540 },
]

/** So many, and fewer, have larger pictures. */
export const mostOfFew = 6
/** More than so many stand two beside each other on a phone. */
export const mostOfMany = 24

/** As the style sheet has them: tiles of few cameras are larger, and fill the wall. */
const minTileWidth = { many: 288, few: 416 } as const
const columnsOfFew: readonly number[] = [1, 1, 2, 3, 2, 3, 3]
const maxTileWidth = 1024
const maxPhoneWidth = 640 - 48
const gap = 16
/** Beyond that nobody sees a difference in a small picture that moves. */
const maxPixelRatio = 1.5

/** As wide as `count` tiles on a wall of this width come out, in pixels of the screen. */
export function findTileSize(wallWidth: number, pixelRatio: number, count: number): TileSize {
  const isFew = count <= mostOfFew
  const room = Math.max(1, Math.floor((wallWidth + gap) / (minTileWidth[isFew ? 'few' : 'many'] + gap)))
  const isCrowdOnPhone = count > mostOfMany && wallWidth <= maxPhoneWidth
  const columns = isCrowdOnPhone ? 2 : Math.min(room, columnsOfFew[count] ?? room)
  const width = Math.min(maxTileWidth, (wallWidth - gap * (columns - 1)) / columns)
  const wanted = width * Math.min(pixelRatio, maxPixelRatio)
  return sizes.find(({ width }) => width >= wanted) ?? sizes.at(-1)!
}
