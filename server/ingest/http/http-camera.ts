// One HTTP connection to a camera: an endless stream of JPEGs, or one picture, which is then asked for again and again;
// a container is for container-camera.ts.

import type { IncomingMessage } from 'node:http'
import { withDeadline } from '../../base/deadline.ts'
import { repeat } from '../../base/repeat.ts'
import { MjpegReader } from '../../media/multipart/mjpeg-reader.ts'
import type { ConnectedOptions } from '../connection/connection-options.ts'
import { FrameStream } from '../frames/frame-stream.ts'
import { describeLacking, FrameWatch, type Lacking } from '../frames/frame-watch.ts'
import { CameraError, toCameraError } from '../network/camera-error.ts'
import { runContainerCamera } from './container-camera.ts'
import { endOnThrow } from './end-on-throw.ts'
import { describeHttpError, HttpClient } from './http-client.ts'
import { findContent } from './http-content.ts'

const tickMs = 2500

/**
 * Least time between two requests for a picture; more for a camera that takes long to answer, so that it is not busy
 * with us alone.
 */
const pollMs = 1000

/** A picture that has not changed is published again so often, so that the footage goes on. */
const unchangedMs = 5000

/** Always ends by throwing: the CameraError that tells why it was lost, or the signal's reason. */
export async function runHttpCamera(options: ConnectedOptions): Promise<never> {
  const { context, url, address, credentials, signal, limits, memory } = options
  const { clock, containers } = context
  using client = new HttpClient({ url, address, credentials, clock, signal, responseMs: limits.responseMs })
  const pictures = new FrameStream({ ...options, clock, runLimit: memory.runLimit })
  try {
    const askedMs = clock.monotonicMs()
    const response = await client.get()
    const content = await findContent(response, options)
    if (content?.kind === 'container') {
      if (!containers) throw describeContainer()
      options.onSetUp()
      options.onLearned?.({ transport: 'http_stream' })
      return await runContainerCamera(response, content.format, containers, options)
    }
    checkType(response)
    if (response.readableEnded) throw describeNoPicture()
    options.onSetUp()
    options.onLearned?.({ transport: isMultipart(response) ? 'http_stream' : 'http_picture' })
    const last = await readPictures(response, options, pictures)
    const isStill = pictures.pictures === 1 && !isMultipart(response)
    if (!last) throw describeNoPicture()
    if (!isStill) throw new CameraError('camera_unreachable', 'The camera closed the connection.')
    return await pollPicture(client, options, pictures, { jpeg: last, response, askedMs })
  } finally {
    memory.lastWallMs = pictures.lastWallMs
  }
}

/** Reads the body to its end, pictures published as they come; gives the last. */
async function readPictures(
  response: IncomingMessage,
  options: ConnectedOptions,
  pictures: FrameStream,
): Promise<Uint8Array | undefined> {
  const { context, signal, stats, limits, url } = options
  const { clock } = context
  let last: Uint8Array | undefined
  const reader = new MjpegReader({
    onFrame: (jpeg) => {
      last = jpeg
      pictures.take(jpeg)
    },
  })
  const frames = new FrameWatch(limits, clock.monotonicMs())
  const ended = new AbortController()
  const over = AbortSignal.any([signal, ended.signal])
  response.on('data', (bytes: Uint8Array) => {
    stats.receivedBytes += bytes.length
    endOnThrow(ended, () => reader.push(bytes))
  })
  response.on('end', () => ended.abort(isOver))
  response.on('error', (error) => ended.abort(describeHttpError(error, url)))
  response.resume()
  let bad = 0
  try {
    const check = () => {
      stats.badPackets += reader.badFrames - bad
      stats.droppedFrames += reader.badFrames - bad
      bad = reader.badFrames
      frames.check(pictures, clock.monotonicMs(), lacking)
    }
    await repeat(check, { clock, signal: over, intervalMs: tickMs, isDelayed: true })
    signal.throwIfAborted()
    if (ended.signal.reason !== isOver) throw ended.signal.reason
    return last
  } finally {
    response.destroy()
  }
}

/** The reason when a body has come to its end. */
const isOver = Symbol('the body is over')

const lacking: Lacking = { what: 'no JPEG that can be read', hint: 'check that its URL is one of MJPEG pictures' }

type Still = { readonly jpeg: Uint8Array; readonly response: IncomingMessage; readonly askedMs: number }

/** Asks for the picture until the camera has not given one for too long. */
async function pollPicture(
  client: HttpClient,
  options: ConnectedOptions,
  pictures: FrameStream,
  first: Still,
): Promise<never> {
  const { context, signal, limits } = options
  const { clock } = context
  let { jpeg, response, askedMs } = first
  let seenMs = clock.monotonicMs()
  let publishedMs = seenMs
  let usable = { pictures: pictures.published, atMs: seenMs }
  for (;;) {
    if (pictures.published > usable.pictures) usable = { pictures: pictures.published, atMs: publishedMs }
    if (clock.monotonicMs() - usable.atMs >= limits.keyFrameMs) throw describeLacking(limits.keyFrameMs, lacking)
    const tookMs = clock.monotonicMs() - askedMs
    await clock.sleep(Math.max(0, Math.max(pollMs, 2 * tookMs) - tookMs), signal)
    askedMs = clock.monotonicMs()
    try {
      const next = await client.get(conditionOf(response))
      const isSame = next.statusCode === 304
      const read = isSame ? undefined : await readPicture(next, options)
      if (isSame) next.resume()
      else response = next
      const nowMs = clock.monotonicMs()
      seenMs = nowMs
      const isChanged = read !== undefined && !isEqual(read, jpeg)
      if (read) jpeg = read
      if (!isChanged && nowMs - publishedMs < unchangedMs) continue
      publishedMs = nowMs
      pictures.take(jpeg)
    } catch (thrown) {
      signal.throwIfAborted()
      const error = toCameraError(thrown)
      // One request that fails is no outage.
      if (error.reason === 'auth_failed' || clock.monotonicMs() - seenMs >= limits.pictureMs) throw error
    }
  }
}

/** One picture. @throws CameraError when there is none in the body */
async function readPicture(response: IncomingMessage, options: ConnectedOptions): Promise<Uint8Array> {
  checkType(response)
  const { context, stats, signal, limits, url } = options
  const { clock } = context
  let jpeg: Uint8Array | undefined
  const reader = new MjpegReader({
    onFrame: (picture) => {
      jpeg ??= picture
    },
  })
  const ended = new Promise<void>((resolve, reject) => {
    response.on('data', (bytes: Uint8Array) => {
      stats.receivedBytes += bytes.length
      try {
        reader.push(bytes)
      } catch (error) {
        reject(error)
      }
    })
    response.on('end', resolve)
    response.on('error', (error) => reject(describeHttpError(error, url)))
  })
  try {
    const onLate = () =>
      new CameraError('no_frames', `The camera did not send its image within ${limits.responseMs / 1000} s.`)
    await withDeadline(ended, { ms: limits.responseMs, clock, signal, onLate })
  } finally {
    response.destroy()
  }
  if (!jpeg) throw new CameraError('no_frames', "The camera's response contains no image.")
  return jpeg
}

/** So that a camera which knows when its picture changed need not send it again. */
function conditionOf({ headers }: IncomingMessage): { [name: string]: string } {
  const etag = headers.etag
  const modified = headers['last-modified']
  return {
    ...(etag !== undefined && { 'If-None-Match': etag }),
    ...(modified !== undefined && { 'If-Modified-Since': modified }),
  }
}

function isMultipart({ headers }: IncomingMessage): boolean {
  return /^\s*multipart\//i.test(headers['content-type'] ?? '')
}

/** @throws CameraError when the camera says that it sends something else than pictures */
function checkType({ headers }: IncomingMessage): void {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type === '' || /^multipart\/|jpe?g|octet-stream/.test(type)) return
  const named = /^[\w.+-]{1,30}\/[\w.+-]{1,30}$/.test(type) ? ` (${type})` : ''
  const what = type.startsWith('text/') ? 'a page' : 'something'
  const detail = `The camera answered with ${what}${named} that holds no pictures: check the path of the URL.`
  throw new CameraError('no_frames', detail, { trouble: 'no_such_stream' })
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function describeContainer(): CameraError {
  const detail = 'The camera answered with a stream that is not read here: enter its RTSP address.'
  return new CameraError('no_frames', detail, { trouble: 'unsupported' })
}

function describeNoPicture(): CameraError {
  const detail = 'The camera answered without a picture: check the path of the URL.'
  return new CameraError('no_frames', detail, { trouble: 'no_such_stream' })
}
