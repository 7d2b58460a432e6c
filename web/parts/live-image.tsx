// Shows a camera live as MJPEG. The source is removed while the image is out of sight, so that no data is sent. An
// expired or broken stream is requested again; until it is back, the last image stays, dimmed.

import { useEffect, useRef, useState } from 'react'
import { connection } from '../app/queries.ts'
import './live-image.css'
import { useIsVisible } from './use-is-visible.ts'

export type LiveImageProps = {
  /** URL of an MJPEG stream; undefined while there is none. */
  readonly url: string | undefined
  /** Shown until the first image arrives and while there is no stream. */
  readonly poster: string | undefined
  readonly alt: string
  /** Dims the image, whatever arrives. */
  readonly isOld?: boolean
}

const againMs = 3_000
/**
 * An image element drops its content at once when the stream breaks. This is the maximum age of the image that replaces
 * it.
 */
const keepEveryMs = 2_000

export function LiveImage({ url, poster, alt, isOld = false }: LiveImageProps) {
  const image = useRef<HTMLImageElement>(null)
  const kept = useRef<HTMLCanvasElement>(null)
  const { isNear, isShown } = useIsVisible(image)
  const [attempt, setAttempt] = useState(0)
  const [isBroken, setBroken] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // Some browsers do not report the end of a stream: the image just stops.
  useEffect(() => {
    let wasLost = connection.isLost
    return connection.subscribe(() => {
      if (wasLost && !connection.isLost) setAttempt((before) => before + 1)
      wasLost = connection.isLost
    })
  }, [])
  // Some browsers go on loading the stream of an image that was removed.
  useEffect(() => {
    const element = image.current
    return () => element?.removeAttribute('src')
  }, [])
  const isLive = isNear && isShown && url !== undefined
  useEffect(() => {
    if (!isLive) return
    const keep = () => image.current && kept.current && saveImage(image.current, kept.current)
    const keeping = setInterval(keep, keepEveryMs)
    return () => {
      clearInterval(keeping)
      keep()
    }
  }, [isLive])
  // Images of distant tiles are released: hundreds of cameras would fill the memory of a phone.
  useEffect(() => {
    const canvas = kept.current
    if (isNear && canvas) return () => void Object.assign(canvas, { width: 0, height: 0 })
  }, [isNear])
  // URLs are signed anew with each response; the one that is playing continues.
  const playing = useRef<{ url: string; attempt: number }>(undefined)
  if (!isLive) playing.current = undefined
  else if (playing.current?.attempt !== attempt) {
    // Setting the same URL again would only show the stalled image.
    playing.current = { url: attempt === 0 ? url : `${url}&attempt=${attempt}`, attempt }
  }
  return (
    <span className={`live-image ${isOld || isBroken ? 'live-image-old' : ''}`}>
      <canvas ref={kept} className="media" />
      <img
        ref={image}
        className="media"
        src={playing.current?.url ?? (isNear ? poster : undefined)}
        alt={alt}
        decoding="async"
        onLoad={() => setBroken(false)}
        onError={() => {
          setBroken(true)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => setAttempt((before) => before + 1), againMs)
        }}
      />
    </span>
  )
}

function saveImage(image: HTMLImageElement, canvas: HTMLCanvasElement): void {
  const { naturalWidth: width, naturalHeight: height } = image
  if (width === 0 || height === 0) return
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
  canvas.getContext('2d')?.drawImage(image, 0, 0)
}
