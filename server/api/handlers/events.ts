// /v1/events/: events of the caller's cameras, reported by programs with a token and by devices with a camera's hash.

import type { Body, Query } from '../../../contract/endpoint.ts'
import type { Endpoints } from '../../../contract/endpoints.ts'
import type { DeviceCredentials } from '../../auth/device-credentials.ts'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { defaultCategory, getOccurredAt, writeEventData } from '../../model/event.ts'
import { getPage } from '../../model/page.ts'
import { getOpenTimeRange } from '../../model/time-range.ts'
import type { EventScope } from '../../store/cameras/event-counts.ts'
import type { Store } from '../../store/store.ts'
import { writeEvent } from '../answers/event.ts'
import type { Call, Handlers } from '../call.ts'
import { getOwnCamera } from '../own-camera.ts'
import { writeListing } from '../page-of.ts'

export type EventHandlersOptions = {
  readonly store: Pick<Store, 'cameras' | 'events'>
  readonly devices: Pick<DeviceCredentials, 'authenticate' | 'findCamera'>
  readonly clock: Pick<Clock, 'nowMs'>
  /** Origin of links, without a trailing slash. */
  readonly publicUrl: string
}

type Names = 'listEvents' | 'listCameraEvents' | 'createEvent'
type NewEvent = Body<Endpoints['createEvent']>
type ListCall = { query(): Query<Endpoints['listEvents']>; readonly queryText: string }

export function createEventHandlers({ store, devices, clock, publicUrl }: EventHandlersOptions): Pick<Handlers, Names> {
  const { events } = store

  const list = async (call: ListCall, scope: EventScope, path: string) => {
    const query = call.query()
    const filter = { ...getOpenTimeRange(query), category: query.category }
    const page = getPage(query)
    const [count, rows] = await Promise.all([events.count(scope, filter), events.list(scope, filter, page)])
    return writeListing(call, `${publicUrl}${path}`, page, count, rows.map(writeEvent))
  }

  const report = async (cameraId: number, source: 'api' | 'device', body: NewEvent) => {
    const { title = null, category = defaultCategory, occurred_at: occurredAt, data } = body
    const event = await events.insert({
      cameraId,
      title,
      category,
      source,
      occurredAtMs: getOccurredAt(occurredAt, clock.nowMs()),
      // Reports with a hash must be small, because anybody who has the hash could fill the disk.
      data: source === 'api' ? writeEventData(data) : null,
    })
    return writeEvent(event)
  }

  return {
    listEvents: (call) => list(call, { ownerId: call.caller.userId }, '/v1/events/'),

    listCameraEvents: (call) => list(call, { cameraId: call.camera.id }, `/v1/events/${call.camera.id}/`),

    async createEvent(call) {
      const { caller } = call
      if (caller === undefined) {
        const cameraId = await devices.authenticate(call.findInBody('hash'), call.context().ip, call.setRate)
        return report(cameraId, 'device', call.body())
      }
      const { camera, hash } = readTarget(call)
      if (camera !== undefined) {
        const { id } = await getOwnCamera(store, caller.userId, camera)
        return report(id, 'api', call.body())
      }
      const body = call.body()
      if (hash === undefined) throw invalid('camera', 'This field is required.')
      const cameraId = await devices.findCamera(hash, call.setRate)
      if (cameraId === undefined) throw invalid('hash', 'This is not the hash of a camera.')
      return report(cameraId, 'device', body)
    },
  }
}

/** The camera is identified first; if that fails, all errors of the body are reported together. */
function readTarget(call: Call<Endpoints['createEvent']>): Pick<NewEvent, 'camera' | 'hash'> {
  try {
    return call.bodyPart(['camera', 'hash'])
  } catch {
    return call.body()
  }
}

function invalid(field: string, reason: string): AppError {
  return new AppError('invalid', `${field}: ${reason}`, { fields: { [field]: [reason] } })
}
