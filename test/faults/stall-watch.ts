// When this process got no time for more than a second: then neither did the server beside it, and what came late is nobody's fault.

const tickMs = 250
const stallMs = 1000

export type StallWatch = Disposable & {
  /** Unix milliseconds. */
  hasStalled(fromMs: number, toMs: number): boolean
  /** The longest time so far, beyond what it always takes. */
  readonly longestMs: number
}

export function watchStalls(): StallWatch {
  const stalls: { readonly fromMs: number; readonly toMs: number }[] = []
  let lastMs = Date.now()
  let longestMs = 0
  const timer = setInterval(() => {
    const nowMs = Date.now()
    longestMs = Math.max(longestMs, nowMs - lastMs - tickMs)
    if (nowMs - lastMs > stallMs) stalls.push({ fromMs: lastMs, toMs: nowMs })
    lastMs = nowMs
  }, tickMs)
  return {
    hasStalled: (fromMs, toMs) => stalls.some((stall) => stall.fromMs < toMs && stall.toMs > fromMs),
    get longestMs() {
      return longestMs
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
