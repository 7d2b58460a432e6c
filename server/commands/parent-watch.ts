// Ends a program together with the one that started it, if that one asks for it: scripts/run.js and the demo do, because a signal
// that kills them is not passed on. A server that was started in any other way outlives its parent.

import process from 'node:process'

/** Environment variable: the process id of a parent that the child is to end with. */
export const endWithVariable = 'NIGHTJAR_END_WITH'

const lookMs = 1000

/** Calls `onGone` once, within a second of the parent's end. Does not keep the process alive. */
export function watchParent(onGone: () => void): void {
  const parent = Number(process.env[endWithVariable])
  // Otherwise it was meant for another process, from which this one inherited its environment.
  if (process.ppid !== parent) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, lookMs)
  timer.unref()
}
