// /v1/cameras/stream-detection/: looks at an address that is no camera of anybody yet.

import { writeDetection } from '../answers/detection.ts'
import type { Handlers } from '../call.ts'
import { readSource } from '../camera-source.ts'
import type { Detector } from '../deps.ts'

export function createDetectionHandlers(detector: Pick<Detector, 'detect'>): Pick<Handlers, 'detectStream'> {
  return {
    async detectStream(call) {
      const source = readSource(call.body())
      const found = await detector.detect(source, { userId: call.caller.userId, signal: call.signal() })
      return writeDetection(source.url, found)
    },
  }
}
