// What a camera sends is handled in callbacks of its connection, where nobody catches what is thrown: a bug of ours
// would end the whole worker with all its cameras. So each such callback does its work here, and what it throws ends
// that camera's session.

export function endOnThrow(ended: AbortController, work: () => void): void {
  try {
    work()
  } catch (error) {
    ended.abort(error)
  }
}
