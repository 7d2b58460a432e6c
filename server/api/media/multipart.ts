// JPEGs as an endless response that browsers show as video: multipart/x-mixed-replace (RFC 2046 section 5.1.1, and the
// convention of cameras since Netscape). Each image is immediately followed by the next boundary, because some browsers
// show a part when they see its end.

const boundary = 'nightjar-frame'

export const mjpegContentType = `multipart/x-mixed-replace; boundary=${boundary}`

const opening = Buffer.from(`--${boundary}\r\n`)
const closing = Buffer.from(`\r\n--${boundary}\r\n`)

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
