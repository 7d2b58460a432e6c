// The picture that is shown, as a file; and how a page hands out a file.

/** Of a `<video>` or `<img>` inside `stage`, at its full size, JPEG. Undefined while nothing is shown. */
export async function takePicture(stage: HTMLElement): Promise<Blob | undefined> {
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

/** Into the browser's downloads. */
export function saveFile(content: Blob | string, name: string): void {
  const link = document.createElement('a')
  const url = typeof content === 'string' ? content : URL.createObjectURL(content)
  link.href = url
  link.download = name
  link.click()
  // The browser has taken hold of it by then.
  if (typeof content !== 'string') setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
