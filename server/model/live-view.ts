// How a viewer wants to see a camera live: the three parameters of a camera request, encoded in the URLs it returns.

export type LiveView = {
  /** Maximum key frames per second, > 0. */
  readonly refreshRate?: number
  /** Pixels; the image keeps its aspect ratio and is never enlarged. */
  readonly maxWidth?: number
  readonly maxHeight?: number
}

/**
 * Sizes that images are encoded in. Each size of a key frame is encoded separately, so a client that requests 480
 * widths gets only a few: the largest that does not exceed the requested one.
 */
const steps = {
  width: [1, 8, 16, 32, 64, 100, 128, 160, 240, 320, 480, 640, 800, 960, 1280, 1600, 1920, 2560, 3840, 7680],
  height: [1, 8, 16, 32, 64, 90, 100, 120, 180, 240, 270, 360, 480, 540, 600, 720, 960, 1080, 1440, 2160, 4320],
} as const

const stepDown = (pixels: number, of: keyof typeof steps): number => steps[of].findLast((step) => step <= pixels) ?? 1

/** Rounds sizes down to the steps. */
export function createLiveView(query: {
  readonly refresh_rate?: number | undefined
  readonly max_width?: number | undefined
  readonly max_height?: number | undefined
}): LiveView {
  return {
    ...(query.refresh_rate !== undefined && { refreshRate: query.refresh_rate }),
    ...(query.max_width !== undefined && { maxWidth: stepDown(query.max_width, 'width') }),
    ...(query.max_height !== undefined && { maxHeight: stepDown(query.max_height, 'height') }),
  }
}

/** A parseable line that a signed URL is bound to, for instance `r0.1,w640`. Empty without parameters. */
export function writeLiveView({ refreshRate, maxWidth, maxHeight }: LiveView): string {
  const parts: string[] = []
  if (refreshRate !== undefined) parts.push(`r${refreshRate}`)
  if (maxWidth !== undefined) parts.push(`w${maxWidth}`)
  if (maxHeight !== undefined) parts.push(`h${maxHeight}`)
  return parts.join(',')
}

/** Parses the output of `writeLiveView`; undefined for any other text. */
export function parseLiveView(text: string): LiveView | undefined {
  const view: { refreshRate?: number; maxWidth?: number; maxHeight?: number } = {}
  for (const part of text === '' ? [] : text.split(',')) {
    const value = Number(part.slice(1))
    if (part.length < 2 || !Number.isFinite(value) || value <= 0) return undefined
    if (part[0] === 'r') view.refreshRate = value
    else if (part[0] === 'w') view.maxWidth = value
    else if (part[0] === 'h') view.maxHeight = value
    else return undefined
  }
  return view
}
