// How large a picture is shown within limits: aspect kept, never enlarged.

export type ImageLimits = {
  /** Pixels, at least 1; undefined for no limit. */
  readonly maxWidth?: number | undefined
  readonly maxHeight?: number | undefined
}

export type ImageSize = { readonly width: number; readonly height: number }

/** The largest size within the limits with the aspect ratio of `picture`, in whole pixels, at least 1 × 1. */
export function fitImage({ width, height }: ImageSize, { maxWidth, maxHeight }: ImageLimits): ImageSize {
  const scale = Math.min(1, (maxWidth ?? width) / width, (maxHeight ?? height) / height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}
