// The current time, for what must be rendered again as time passes.

import { useEffect, useState } from 'react'

/** Unix milliseconds, updated every `intervalMs`. */
export function useNow(intervalMs: number): number {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs])
  return nowMs
}
