// By which request a camera's session is kept alive. Cameras differ in what they count as a sign of life, and some list
// a method they do not answer; so what failed once is not used again.

const getParameter = 'GET_PARAMETER'
const setParameter = 'SET_PARAMETER'

/** One for each camera, over all its connections. */
export class KeepAlive {
  #failures = 0

  /** `publicMethods`: what the camera said it can. */
  chooseMethod(publicMethods: readonly string[]): string {
    const listed = [getParameter, 'OPTIONS', setParameter].filter(
      (method) => method === 'OPTIONS' || publicMethods.includes(method),
    )
    // There are servers that know it without listing it.
    const methods = listed.includes(getParameter) ? listed : [...listed, getParameter]
    return methods[this.#failures % methods.length]!
  }

  /** The camera did not answer, or with an error. */
  noteFailure(): void {
    this.#failures++
  }

  /** The session was lost at this age. When that is about its time-out, what we sent did not keep it alive. */
  noteLoss(ageMs: number, timeoutMs: number): void {
    if (ageMs > 0.9 * timeoutMs && ageMs < 1.5 * timeoutMs + 10_000) this.#failures++
  }
}
