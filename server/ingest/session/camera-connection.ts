// Runs one connection to a camera, from the lookup of its name to its loss, with the protocol of its URL. Reconnecting
// is the task of camera-session.ts.

import type { CameraConnectionOptions, ConnectedOptions } from '../connection/connection-options.ts'
import { runHttpCamera } from '../http/http-camera.ts'
import { parseCameraUrl } from '../network/camera-url.ts'
import { resolveTarget } from '../network/resolve-target.ts'
import { runRtspCamera } from '../rtsp/rtsp-camera.ts'

/** Never resolves. @throws the CameraError that explains the loss, or the signal's reason if it aborts. */
export async function runCameraConnection(options: CameraConnectionOptions): Promise<never> {
  const { context, signal, limits } = options
  const { clock, addressGuard } = context
  const url = parseCameraUrl(options.url)
  // Unknown until the name is resolved. While this connection waits for its permit, another one may find that the host
  // does not answer.
  options.memory.isPublic = false
  const permit = await context.connectLimiter.enter(`${url.host}:${url.port}`, signal)
  // The requests of the connection setup follow one another, so each rest would delay them. Over HTTP, rests stay short
  // for the whole connection, because the arrival of a frame is its only time.
  const endAttention = context.reads.attend()
  try {
    const address = await resolveTarget(url, { addressGuard, clock, ms: limits.connectMs, signal })
    options.memory.isPublic = address.isPublic
    const onSetUp = () => {
      permit.release()
      if (url.protocol === 'rtsp') endAttention()
    }
    const connected: ConnectedOptions = { ...options, url, address, onSetUp }
    return await (url.protocol === 'rtsp' ? runRtspCamera(connected) : runHttpCamera(connected))
  } catch (error) {
    permit.release(error)
    throw error
  } finally {
    endAttention()
  }
}
