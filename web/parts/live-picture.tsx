// A camera's live picture as moving JPEGs. Has no source while it cannot be seen, so that nothing is sent for nothing; an address
// that expired, or broke with the connection, is asked for again. While nothing new comes, the last picture stays, dimmed.

import { useEffect, useRef, useState } from 'react'
import { connection } from '../app/queries.ts'
import './live-picture.css'

export type LivePictureProps = {
  /** Of an MJPEG stream; undefined while there is none. */
  readonly url: string | undefined
  /** Shown until the first picture comes, and while there is no stream. */
  readonly poster: string | undefined
  readonly alt: string
  /** It is not of now, whatever comes. */
  readonly isOld?: boolean
}

const againMs = 3_000
/** A picture that broke is gone from its element at once: this is how old the one that stays may be. */
const keepEveryMs = 2_000
/** What only passes by while somebody scrolls is not asked for. */
const restMs = 250

export function LivePicture({ url, poster, alt, isOld = false }: LivePictureProps) {
  const image = useRef<HTMLImageElement>(null)
  const kept = useRef<HTMLCanvasElement>(null)
  const { isNear, isShown } = useIsVisible(image)
  const [attempt, setAttempt] = useState(0)
  const [isBroken, setBroken] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // A picture whose connection ended is not told so by every browser: it stands still.
  useEffect(() => {
    let wasLost = connection.isLost
    return connection.subscribe(() => {
      if (wasLost && !connection.isLost) setAttempt((before) => before + 1)
      wasLost = connection.isLost
    })
  }, [])
  const isLive = isNear && isShown && url !== undefined
  useEffect(() => {
    if (!isLive) return
    const keep = () => image.current && kept.current && keepPicture(image.current, kept.current)
    const keeping = setInterval(keep, keepEveryMs)
    return () => {
      clearInterval(keeping)
      keep()
    }
  }, [isLive])
  // Of what is far away nothing is kept: pictures of hundreds of cameras would fill a phone.
  useEffect(() => {
    const canvas = kept.current
    if (isNear && canvas) return () => void Object.assign(canvas, { width: 0, height: 0 })
  }, [isNear])
  // Addresses are signed anew with each answer; the one that plays goes on.
  const playing = useRef<{ url: string; attempt: number }>(undefined)
  if (!isLive) playing.current = undefined
  else if (playing.current?.attempt !== attempt) {
    // The same address once more would show the picture that stands still.
    playing.current = { url: attempt === 0 ? url : `${url}&attempt=${attempt}`, attempt }
  }
  return (
    <span className={`live-picture ${isOld || isBroken ? 'live-picture-old' : ''}`}>
      <canvas ref={kept} className="picture" />
      <img
        ref={image}
        className="picture"
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

function keepPicture(image: HTMLImageElement, canvas: HTMLCanvasElement): void {
  const { naturalWidth: width, naturalHeight: height } = image
  if (width === 0 || height === 0) return
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
  canvas.getContext('2d')?.drawImage(image, 0, 0)
}

/** In the window, or nearly, and not only passing by; and the window in front. */
function useIsVisible(element: { readonly current: Element | null }): { isNear: boolean; isShown: boolean } {
  const [isNear, setNear] = useState(false)
  const [isShown, setShown] = useState(!document.hidden)
  useEffect(() => {
    if (!element.current) return
    let isFirst = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const note = ([entry]: readonly IntersectionObserverEntry[]) => {
      clearTimeout(timer)
      if (!entry?.isIntersecting) setNear(false)
      else if (isFirst) setNear(true)
      else timer = setTimeout(() => setNear(true), restMs)
      isFirst = false
    }
    const observer = new IntersectionObserver(note, { rootMargin: '100px' })
    observer.observe(element.current)
    return () => {
      clearTimeout(timer)
      observer.disconnect()
    }
  }, [element])
  useEffect(() => {
    const note = () => setShown(!document.hidden)
    document.addEventListener('visibilitychange', note)
    return () => document.removeEventListener('visibilitychange', note)
  }, [])
  return { isNear, isShown }
}
