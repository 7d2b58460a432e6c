// /v1/cameras/stream-detection/, …/onvif-discovery/ and …/onvif-profiles/: cameras that have not been added yet.

import { parseProbeUrl } from '../../model/camera-url.ts'
import { parseOnvifUrl } from '../../model/onvif-url.ts'
import { writeDetection } from '../answers/detection.ts'
import { writeDevice, writeDiscovery } from '../answers/onvif.ts'
import type { Handlers } from '../call.ts'
import { readSource } from '../camera-source.ts'
import type { Detector } from '../deps.ts'

type Names = 'detectStream' | 'discoverDevices' | 'readDevice'

export function createDetectionHandlers(detector: Omit<Detector, 'findType'>): Pick<Handlers, Names> {
  return {
    async detectStream(call) {
      await detector.checkMayAdd(call.caller.userId)
      const source = readSource(call.body(), parseProbeUrl)
      const found = await detector.detect(source, { userId: call.caller.userId, signal: call.signal() })
      return writeDetection(source.url, found)
    },

    async discoverDevices(call) {
      return writeDiscovery(await detector.discover({ userId: call.caller.userId, signal: call.signal() }))
    },

    async readDevice(call) {
      await detector.checkMayAdd(call.caller.userId)
      const source = readSource(call.body(), parseOnvifUrl)
      const found = await detector.readDevice(source, { userId: call.caller.userId, signal: call.signal() })
      return writeDevice(source.url, found)
    },
  }
}
