// One HTTP connection to a camera that sends an endless stream of JPEGs, or a single image that is requested
// repeatedly. Containers are handled by container-camera.ts.

import type { IncomingMessage } from 'node:http'
import { withDeadline } from '../../base/deadline.ts'
import { repeat } from '../../base/repeat.ts'
import { MjpegReader } from '../../media/multipart/mjpeg-reader.ts'
import type { ConnectedOptions } from '../connection/connection-options.ts'
import { describeMissingData, FrameWatch, type MissingData } from '../frames/frame-watch.ts'
import { JpegStream } from '../frames/jpeg-stream.ts'
import { CameraError, toCameraError } from '../network/camera-error.ts'
import { runContainerCamera } from './container-camera.ts'
import { endOnThrow } from './end-on-throw.ts'
import { describeHttpError, HttpClient } from './http-client.ts'
import { findContent } from './http-content.ts'

const tickMs = 2500

/**
 * The shortest interval between two requests for an image. It is longer for a camera that responds slowly, to limit the
 * load on the camera.
 */
const pollMs = 1000

/** An image that has not changed is published again at this interval, so that the footage continues. */
const unchangedMs = 5000

/** Always throws: a CameraError with the reason for which the camera was lost, or the signal's reason. */
export async function runHttpCamera(options: ConnectedOptions): Promise<never> {
  const { context, url, address, credentials, signal, limits, memory } = options
  const { clock, containers, tap } = context
  using client = new HttpClient({
    url,
    address,
    credentials,
    clock,
    signal,
    responseMs: limits.responseMs,
    stats: options.stats,
    tap,
  })
  const stream = new JpegStream({ ...options, clock, runLimit: memory.runLimit })
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
    if (response.readableEnded) throw describeNoImage()
    options.onSetUp()
    options.onLearned?.({ transport: isMultipart(response) ? 'http_stream' : 'http_picture' })
    const last = await readFrames(response, options, stream)
    const isStill = stream.frames === 1 && !isMultipart(response)
    if (!last) throw describeNoImage()
    if (!isStill) throw new CameraError('camera_unreachable', 'The camera closed the connection.')
    return await pollImage(client, options, stream, { jpeg: last, response, askedMs })
  } finally {
    memory.lastWallMs = stream.lastWallMs
  }
}

/** Reads the body to its end and publishes each frame when it arrives. Returns the last one. */
async function readFrames(
  response: IncomingMessage,
  options: ConnectedOptions,
  stream: JpegStream,
): Promise<Uint8Array | undefined> {
  const { context, signal, stats, limits, url } = options
  const { clock } = context
  let last: Uint8Array | undefined
  const reader = new MjpegReader({
    onFrame: (jpeg) => {
      last = jpeg
      stream.take(jpeg)
    },
  })
  const watch = new FrameWatch(limits, clock.monotonicMs())
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
      watch.check(stream, clock.monotonicMs(), missing)
    }
    await repeat(check, { clock, signal: over, intervalMs: tickMs, isDelayed: true })
    signal.throwIfAborted()
    if (ended.signal.reason !== isOver) throw ended.signal.reason
    return last
  } finally {
    response.destroy()
  }
}

/** The abort reason when a body has ended. */
const isOver = Symbol('the body is over')

const missing: MissingData = {
  what: 'no readable JPEG',
  hint: 'check that the URL is that of an MJPEG stream or a JPEG image',
}

type Still = { readonly jpeg: Uint8Array; readonly response: IncomingMessage; readonly askedMs: number }

/** Requests the image until the camera has not sent one for too long. */
async function pollImage(
  client: HttpClient,
  options: ConnectedOptions,
  stream: JpegStream,
  first: Still,
): Promise<never> {
  const { context, signal, limits } = options
  const { clock } = context
  let { jpeg, response, askedMs } = first
  let seenMs = clock.monotonicMs()
  let publishedMs = seenMs
  let usable = { frames: stream.published, atMs: seenMs }
  for (;;) {
    if (stream.published > usable.frames) usable = { frames: stream.published, atMs: publishedMs }
    if (clock.monotonicMs() - usable.atMs >= limits.keyFrameMs) throw describeMissingData(limits.keyFrameMs, missing)
    const tookMs = clock.monotonicMs() - askedMs
    await clock.sleep(Math.max(0, Math.max(pollMs, 2 * tookMs) - tookMs), signal)
    askedMs = clock.monotonicMs()
    try {
      const next = await client.get(conditionOf(response))
      const isSame = next.statusCode === 304
      const read = isSame ? undefined : await readImage(next, options)
      if (isSame) next.resume()
      else response = next
      const nowMs = clock.monotonicMs()
      seenMs = nowMs
      const isChanged = read !== undefined && !isEqual(read, jpeg)
      if (read) jpeg = read
      if (!isChanged && nowMs - publishedMs < unchangedMs) continue
      publishedMs = nowMs
      stream.take(jpeg)
    } catch (thrown) {
      signal.throwIfAborted()
      const error = toCameraError(thrown)
      // A single failed request is not an outage.
      if (error.reason === 'auth_failed' || clock.monotonicMs() - seenMs >= limits.frameMs) throw error
    }
  }
}

/** Reads one image. @throws CameraError if the body contains none */
async function readImage(response: IncomingMessage, options: ConnectedOptions): Promise<Uint8Array> {
  checkType(response)
  const { context, stats, signal, limits, url } = options
  const { clock } = context
  let jpeg: Uint8Array | undefined
  const reader = new MjpegReader({
    onFrame: (frame) => {
      jpeg ??= frame
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

/**
 * Makes the request conditional, so that a camera which knows that its image has not changed need not send it again.
 */
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

/** @throws CameraError if the camera declares a content type other than images */
function checkType({ headers }: IncomingMessage): void {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type === '' || /^multipart\/|jpe?g|octet-stream/.test(type)) return
  const named = /^[\w.+-]{1,30}\/[\w.+-]{1,30}$/.test(type) ? ` (${type})` : ''
  const what = type.startsWith('text/') ? 'a page' : 'something'
  const detail = `The camera answered with ${what}${named} that contains no images: check the path of the URL.`
  throw new CameraError('no_frames', detail, { problem: 'no_such_stream' })
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

function describeContainer(): CameraError {
  const detail = 'The camera answered with a stream that this server does not read: enter its RTSP URL.'
  return new CameraError('no_frames', detail, { problem: 'unsupported' })
}

function describeNoImage(): CameraError {
  const detail = 'The camera answered without an image: check the path of the URL.'
  return new CameraError('no_frames', detail, { problem: 'no_such_stream' })
}
