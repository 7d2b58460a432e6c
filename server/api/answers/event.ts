// An event, for the camera's owner.

import type { Static } from 'typebox'
import type { Event } from '../../../contract/event.ts'
import { writeTime } from '../../model/time.ts'
import type { CameraEvent } from '../../store/cameras/events.ts'

export function writeEvent(event: CameraEvent): Static<typeof Event> {
  return {
    id: event.id,
    camera: event.cameraId,
    site: null,
    title: event.title,
    category: event.category,
    source: event.source,
    occurred_at: writeTime(event.occurredAtMs),
    received_at: writeTime(event.receivedAtMs),
    data: event.data === null ? null : JSON.parse(event.data),
  }
}
