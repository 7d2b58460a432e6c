// Counts HTTP/1.1 answers in the bytes of a connection, with as little work as can be: a load generator must not be what is slow.
// Knows answers with a Content-Length only; anything but 200 ends the measurement.

const headEnd = Buffer.from('\r\n\r\n')

export class AnswerReader {
  /** Head of an answer that is not complete yet. */
  #head: Buffer | undefined
  #restOfBody = 0

  /** How many answers are complete with these bytes. Throws for another status than 200. */
  push(bytes: Buffer): number {
    let count = 0
    let chunk = this.#head ? Buffer.concat([this.#head, bytes]) : bytes
    this.#head = undefined
    while (chunk.length > 0) {
      if (this.#restOfBody === 0) {
        const end = chunk.indexOf(headEnd)
        if (end < 0) {
          this.#head = chunk
          return count
        }
        this.#restOfBody = parseContentLength(chunk.toString('latin1', 0, end))
        chunk = chunk.subarray(end + headEnd.length)
      }
      const taken = Math.min(this.#restOfBody, chunk.length)
      this.#restOfBody -= taken
      chunk = chunk.subarray(taken)
      if (this.#restOfBody === 0) count++
    }
    return count
  }
}

function parseContentLength(head: string): number {
  if (!head.startsWith('HTTP/1.1 200 '))
    throw new Error(`expected an answer with status 200, got: ${head.split('\r\n')[0]}`)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
  if (!(length > 0)) throw new Error('expected an answer with a Content-Length above 0')
  return length
}
