// Data from a camera is handled in callbacks of its connection. An uncaught error there, which is a bug, would end the
// whole worker with all its cameras. Therefore each such callback runs in this function, so that an error ends only the
// session of that camera.

export function endOnThrow(ended: AbortController, work: () => void): void {
  try {
    work()
  } catch (error) {
    ended.abort(error)
  }
}
