// How a viewer wants to see a camera live: the three options of a camera read, folded into the URLs it answers.

export type LiveView = {
  /** Key frames per second at most, > 0. */
  readonly refreshRate?: number
  /** Pixels; the picture keeps its aspect ratio and is never enlarged. */
  readonly maxWidth?: number
  readonly maxHeight?: number
}

export function createLiveView(query: {
  readonly refresh_rate?: number | undefined
  readonly max_width?: number | undefined
  readonly max_height?: number | undefined
}): LiveView {
  return {
    ...(query.refresh_rate !== undefined && { refreshRate: query.refresh_rate }),
    ...(query.max_width !== undefined && { maxWidth: query.max_width }),
    ...(query.max_height !== undefined && { maxHeight: query.max_height }),
  }
}

/** One line that parses back: what a signed URL is bound to, for instance `r0.1,w640`. Empty without options. */
export function writeLiveView({ refreshRate, maxWidth, maxHeight }: LiveView): string {
  const parts: string[] = []
  if (refreshRate !== undefined) parts.push(`r${refreshRate}`)
  if (maxWidth !== undefined) parts.push(`w${maxWidth}`)
  if (maxHeight !== undefined) parts.push(`h${maxHeight}`)
  return parts.join(',')
}

/** The view that `writeLiveView` wrote; undefined when the text is of another make. */
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
