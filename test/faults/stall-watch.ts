// When this process got no time for more than a second: then neither did the server beside it, and what came late is nobody's fault.

const tickMs = 250
const stallMs = 1000

export type StallWatch = Disposable & {
  /** Unix milliseconds. */
  hasStalled(fromMs: number, toMs: number): boolean
}

export function watchStalls(): StallWatch {
  const stalls: { readonly fromMs: number; readonly toMs: number }[] = []
  let lastMs = Date.now()
  const timer = setInterval(() => {
    const nowMs = Date.now()
    if (nowMs - lastMs > stallMs) stalls.push({ fromMs: lastMs, toMs: nowMs })
    lastMs = nowMs
  }, tickMs)
  return {
    hasStalled: (fromMs, toMs) => stalls.some((stall) => stall.fromMs < toMs && stall.toMs > fromMs),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
