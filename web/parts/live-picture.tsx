// A camera's live picture as moving JPEGs. Has no source while it cannot be seen, so that nothing is sent for nothing; an address
// that expired, or broke with the connection, is asked for again.

import { useEffect, useRef, useState } from 'react'
import { connection } from '../app/queries.ts'

export type LivePictureProps = {
  /** Of an MJPEG stream; undefined while there is none. */
  readonly url: string | undefined
  /** Shown until the first picture comes, and while there is no stream. */
  readonly poster: string | undefined
  readonly alt: string
}

const againMs = 3_000

export function LivePicture({ url, poster, alt }: LivePictureProps) {
  const image = useRef<HTMLImageElement>(null)
  const isVisible = useIsVisible(image)
  const [attempt, setAttempt] = useState(0)
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
  const isLive = isVisible && url !== undefined
  // Addresses are signed anew with each answer; the one that plays goes on.
  const playing = useRef<{ url: string; attempt: number }>(undefined)
  if (!isLive) playing.current = undefined
  else if (playing.current?.attempt !== attempt) {
    // The same address once more would show the picture that stands still.
    playing.current = { url: attempt === 0 ? url : `${url}&attempt=${attempt}`, attempt }
  }
  return (
    <img
      ref={image}
      className="picture"
      src={playing.current?.url ?? poster}
      alt={alt}
      decoding="async"
      onError={() => {
        clearTimeout(timer.current)
        timer.current = setTimeout(() => setAttempt((before) => before + 1), againMs)
      }}
    />
  )
}

/** In the window, or nearly, and the window in front. */
function useIsVisible(element: { readonly current: Element | null }): boolean {
  const [isNear, setNear] = useState(false)
  const [isShown, setShown] = useState(!document.hidden)
  useEffect(() => {
    if (!element.current) return
    const observer = new IntersectionObserver(([entry]) => setNear(entry?.isIntersecting ?? false), {
      rootMargin: '100px',
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  useEffect(() => {
    const note = () => setShown(!document.hidden)
    document.addEventListener('visibilitychange', note)
    return () => document.removeEventListener('visibilitychange', note)
  }, [])
  return isNear && isShown
}
