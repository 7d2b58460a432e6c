// Chooses the request that keeps a camera's session alive. Cameras accept different requests for this, and some list a
// method that they do not answer, so a method that failed once is not used again.

const getParameter = 'GET_PARAMETER'
const setParameter = 'SET_PARAMETER'

/** One instance per camera, shared by all its connections. */
export class KeepAlive {
  #failures = 0

  /** `publicMethods` are the methods that the camera listed. */
  chooseMethod(publicMethods: readonly string[]): string {
    const listed = [getParameter, 'OPTIONS', setParameter].filter(
      (method) => method === 'OPTIONS' || publicMethods.includes(method),
    )
    // Some servers support this method without listing it.
    const methods = listed.includes(getParameter) ? listed : [...listed, getParameter]
    return methods[this.#failures % methods.length]!
  }

  /** The camera did not answer, or answered with an error. */
  noteFailure(): void {
    this.#failures++
  }

  /**
   * The session was lost at this age. If the age is close to the session's timeout, the request did not keep it alive.
   */
  noteLoss(ageMs: number, timeoutMs: number): void {
    if (ageMs > 0.9 * timeoutMs && ageMs < 1.5 * timeoutMs + 10_000) this.#failures++
  }
}
