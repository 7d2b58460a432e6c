// Whether somebody can see an element.

import { useEffect, useState } from 'react'

/** Tiles that only pass by while scrolling are not loaded. */
const restMs = 250

/** True while the element is in or near the viewport for longer than a moment, and the tab is visible. */
export function useIsVisible(element: { readonly current: Element | null }): { isNear: boolean; isShown: boolean } {
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
