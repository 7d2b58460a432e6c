// Size of the images on the wall. There are few sizes, because the server encodes an image per key frame and requested
// size.

export type TileSize = { readonly width: number; readonly height: number }

const sizes: readonly TileSize[] = [
  { width: 320, height: 180 },
  { width: 480, height: 270 },
  { width: 640, height: 360 },
  { width: 960, height: 540 },
]

/** Up to this many tiles are shown larger. */
export const mostOfFew = 6
/** More tiles than this are shown in two columns on a phone. */
export const mostOfMany = 24

/** Matches the style sheet, where a few tiles are larger and fill the wall. */
const minTileWidth = { many: 288, few: 416 } as const
const columnsOfFew: readonly number[] = [1, 1, 2, 3, 2, 3, 3]
const maxTileWidth = 1024
const maxPhoneWidth = 640 - 48
const gap = 16
/** A higher resolution makes no visible difference in a small moving image. */
const maxPixelRatio = 1.5

/** Width in device pixels of each of `count` tiles on a wall of this width. */
export function findTileSize(wallWidth: number, pixelRatio: number, count: number): TileSize {
  const isFew = count <= mostOfFew
  const room = Math.max(1, Math.floor((wallWidth + gap) / (minTileWidth[isFew ? 'few' : 'many'] + gap)))
  const isCrowdOnPhone = count > mostOfMany && wallWidth <= maxPhoneWidth
  const columns = isCrowdOnPhone ? 2 : Math.min(room, columnsOfFew[count] ?? room)
  const width = Math.min(maxTileWidth, (wallWidth - gap * (columns - 1)) / columns)
  const wanted = width * Math.min(pixelRatio, maxPixelRatio)
  return sizes.find(({ width }) => width >= wanted) ?? sizes.at(-1)!
}
