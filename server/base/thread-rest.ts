// A thread that rests does nothing at all, not even what other threads ask of it, unless they wake it.

/** Counted up by whoever wants a resting thread to wake; shared by the threads. */
export const createAlarm = (): SharedArrayBuffer => new SharedArrayBuffer(4)

/** Wakes the thread that rests with this alarm; one that does not rest now skips its next rest. */
export function wake(alarm: SharedArrayBuffer): void {
  const count = new Int32Array(alarm)
  Atomics.add(count, 0, 1)
  Atomics.notify(count, 0)
}

/** Blocks the thread for so long, or until somebody wakes it. */
export function createRest(alarm = createAlarm()): (ms: number) => void {
  const count = new Int32Array(alarm)
  let seen = Atomics.load(count, 0)
  return (ms) => {
    Atomics.wait(count, 0, seen, ms)
    seen = Atomics.load(count, 0)
  }
}
