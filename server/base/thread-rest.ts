// A resting thread does nothing at all, not even handle messages, unless another thread wakes it.

/** Incremented to wake a resting thread; shared between threads. */
export const createAlarm = (): SharedArrayBuffer => new SharedArrayBuffer(4)

/** Wakes the thread that rests with this alarm. If it is not resting, it skips its next rest. */
export function wake(alarm: SharedArrayBuffer): void {
  const count = new Int32Array(alarm)
  Atomics.add(count, 0, 1)
  Atomics.notify(count, 0)
}

/** Blocks the thread for this long or until it is woken. */
export function createRest(alarm = createAlarm()): (ms: number) => void {
  const count = new Int32Array(alarm)
  let seen = Atomics.load(count, 0)
  return (ms) => {
    Atomics.wait(count, 0, seen, ms)
    seen = Atomics.load(count, 0)
  }
}
