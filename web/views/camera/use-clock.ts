// The time, for what must be drawn anew as it passes.

import { useEffect, useState } from 'react'

/** Unix milliseconds, renewed every `intervalMs`. */
export function useNow(intervalMs: number): number {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs])
  return nowMs
}
