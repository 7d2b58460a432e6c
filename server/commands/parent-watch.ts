// Ends the program when its parent ends, if the parent requests it. scripts/run.js and the demo do, because a signal
// that kills them is not passed on. Otherwise a server outlives its parent.

import process from 'node:process'

/** Environment variable with the process id of the parent that this process should end with. */
export const endWithVariable = 'NIGHTJAR_END_WITH'

const lookMs = 1000

/** Calls `onGone` once, within a second of the parent's end. It does not keep the process alive. */
export function watchParent(onGone: () => void): void {
  const parent = Number(process.env[endWithVariable])
  // Otherwise the variable was meant for another process and was only inherited.
  if (process.ppid !== parent) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, lookMs)
  timer.unref()
}
