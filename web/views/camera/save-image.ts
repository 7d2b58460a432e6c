// Saves the displayed frame as a file.

/** JPEG of the `<video>` or `<img>` inside `stage` at full resolution; undefined while nothing is shown. */
export async function captureImage(stage: HTMLElement): Promise<Blob | undefined> {
  const shown = stage.querySelector<HTMLVideoElement | HTMLImageElement>('video, img')
  if (!shown) return undefined
  const isVideo = shown instanceof HTMLVideoElement
  const width = isVideo ? shown.videoWidth : shown.naturalWidth
  const height = isVideo ? shown.videoHeight : shown.naturalHeight
  if (width === 0 || height === 0) return undefined
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  canvas.getContext('2d')?.drawImage(shown, 0, 0)
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined), 'image/jpeg', 0.95))
}

/** Starts a browser download. */
export function saveFile(content: Blob | string, name: string): void {
  const link = document.createElement('a')
  const url = typeof content === 'string' ? content : URL.createObjectURL(content)
  link.href = url
  link.download = name
  link.click()
  // By then, the browser has opened the URL.
  if (typeof content !== 'string') setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
