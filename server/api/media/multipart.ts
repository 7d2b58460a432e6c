// JPEGs as an endless response that browsers show as video: multipart/x-mixed-replace (RFC 2046 section 5.1.1, and the
// convention of cameras since Netscape). Each image is immediately followed by the next boundary, because browsers show
// a part only when they see its end.

const boundary = 'nightjar-frame'

export const mjpegContentType = `multipart/x-mixed-replace; boundary=${boundary}`

const opening = Buffer.from(`--${boundary}\r\n`)
const closing = Buffer.from(`\r\n--${boundary}\r\n`)

export async function* writeMultipart(images: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield opening
  for await (const image of images) {
    const head = Buffer.from(`Content-Type: image/jpeg\r\nContent-Length: ${image.length}\r\n\r\n`)
    yield Buffer.concat([head, image, closing])
  }
}
