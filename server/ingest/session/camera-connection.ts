// One connection to a camera, from resolving its name to its loss, by the protocol its URL names. Reconnecting is
// camera-session.ts.

import type { CameraConnectionOptions, ConnectedOptions } from '../connection/connection-options.ts'
import { runHttpCamera } from '../http/http-camera.ts'
import { parseCameraUrl } from '../network/camera-url.ts'
import { resolveTarget } from '../network/resolve-target.ts'
import { runRtspCamera } from '../rtsp/rtsp-camera.ts'

/** Always ends by throwing: the CameraError that tells why it was lost, or the signal's reason. */
export async function runCameraConnection({
  addressGuard,
  connectLimiter,
  ...options
}: CameraConnectionOptions): Promise<never> {
  const { clock, signal, limits } = options
  const url = parseCameraUrl(options.url)
  // Not known before it is resolved: others that wait may find first that nobody answers.
  options.memory.isPublic = false
  const permit = await connectLimiter.enter(`${url.host}:${url.port}`, signal)
  // A camera is asked several things before it sends, each after the answer to the one before; by HTTP its pictures
  // have no other time than that of their arrival.
  const endAttention = options.reads.attend()
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
