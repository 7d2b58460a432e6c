// Computes the size of an image within limits: it keeps the aspect ratio and never enlarges.

export type ImageLimits = {
  /** Pixels, at least 1; undefined for no limit. */
  readonly maxWidth?: number | undefined
  readonly maxHeight?: number | undefined
}

export type ImageSize = { readonly width: number; readonly height: number }

/**
 * Returns the largest size within the limits that has the aspect ratio of the given size, in whole pixels and at least
 * 1 × 1.
 */
export function fitImage({ width, height }: ImageSize, { maxWidth, maxHeight }: ImageLimits): ImageSize {
  const scale = Math.min(1, (maxWidth ?? width) / width, (maxHeight ?? height) / height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}
