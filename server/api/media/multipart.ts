// JPEGs as an endless response that browsers show as video: multipart/x-mixed-replace (RFC 2046 section 5.1.1, and the
// convention of cameras since Netscape). Each image is immediately followed by the next boundary, because some browsers
// show a part when they see its end.

import { AppError } from '../../base/error.ts'

const boundary = 'nightjar-frame'

export const mjpegContentType = `multipart/x-mixed-replace; boundary=${boundary}`

/** Before the first image. */
export const opening = Buffer.from(`--${boundary}\r\n`)
const closing = Buffer.from(`\r\n--${boundary}\r\n`)

const endOfHead = Buffer.from('\r\n\r\n')
const maxHeadBytes = 1000

/** Images that follow each other faster than this are not repeated. */
const lateMs = 100

/**
 * `isRepeated`: an image that no newer one follows within 100 ms is sent once more. Chromium and WebKit show a part only
 * when the headers of the next one have arrived: images of key frames 2 s apart were shown 2 s late (Chromium issue
 * 527446, WebKit bug 263423).
 */
export async function* writeMultipart(
  images: AsyncIterable<Uint8Array>,
  isRepeated = false,
): AsyncGenerator<Uint8Array> {
  yield opening
  const iterator = images[Symbol.asyncIterator]()
  try {
    let next = iterator.next()
    for (;;) {
      const { done, value: image } = await next
      if (done) return
      const head = Buffer.from(`Content-Type: image/jpeg\r\nContent-Length: ${image.length}\r\n\r\n`)
      const part = Buffer.concat([head, image, closing])
      yield part
      next = iterator.next()
      if (isRepeated && (await isLate(next))) yield part
    }
  } finally {
    await iterator.return?.()
  }
}

/**
 * Makes one stream of several that `writeMultipart` has written, each of which may end anywhere: a viewer goes on where the
 * camera went to another server.
 */
export class MultipartSplice {
  #state: 'opening' | 'head' | 'image' = 'opening'
  /** Of the opening or of the head of a part, which are passed on whole. */
  #held = Buffer.alloc(0)
  /** Of the image and of the boundary behind it. */
  #left = 0
  #isFirst = true

  /** Returns what to send of these bytes. Throws 'corrupt' if they are none of such a stream. */
  take(bytes: Uint8Array): Uint8Array[] {
    const sent: Uint8Array[] = []
    let rest = bytes
    while (rest.length > 0) {
      if (this.#state === 'image') {
        const part = rest.subarray(0, this.#left)
        sent.push(part)
        rest = rest.subarray(part.length)
        this.#left -= part.length
        if (this.#left === 0) this.#state = 'head'
        continue
      }
      const before = this.#held.length
      this.#held = Buffer.concat([this.#held, rest])
      const mark = this.#state === 'opening' ? opening : endOfHead
      const at = this.#held.indexOf(mark)
      if (at < 0) {
        if (this.#held.length > maxHeadBytes)
          throw new AppError('corrupt', 'the images of another server are unreadable')
        break
      }
      const head = this.#held.subarray(0, at + mark.length)
      rest = rest.subarray(head.length - before)
      this.#held = Buffer.alloc(0)
      if (this.#state === 'head') {
        const length = /^content-length: (\d+)\r$/im.exec(head.toString('latin1'))?.[1]
        if (length === undefined) throw new AppError('corrupt', 'an image of another server has no length')
        this.#left = Number(length) + closing.length
        this.#state = 'image'
        sent.push(head)
      } else {
        if (this.#isFirst) sent.push(head)
        this.#isFirst = false
        this.#state = 'head'
      }
    }
    return sent
  }

  /** The stream has ended, and another begins. Returns what completes the image that was begun: the rest of it is zeros. */
  end(): Uint8Array {
    const { length } = closing
    const missing = Buffer.concat([
      Buffer.alloc(Math.max(0, this.#left - length)),
      closing.subarray(length - Math.min(this.#left, length)),
    ])
    this.#state = 'opening'
    this.#held = Buffer.alloc(0)
    this.#left = 0
    return missing
  }
}

/** Also handles the promise's rejection, which is thrown when the promise is awaited. */
async function isLate(promise: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, lateMs, true)
  const inTime = () => false
  try {
    return await Promise.race([promise.then(inTime, inTime), late])
  } finally {
    clearTimeout(timer)
  }
}
