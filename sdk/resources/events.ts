// What happened at cameras, newest first.

import type { Body, Call, CallOptions, Query } from '../call.ts'
import { iteratePages } from '../pages.ts'

type List = Query<'listEvents'>

export type Events = ReturnType<typeof createEvents>

export const createEvents = (call: Call) => ({
  /** Lists one page of the events of all cameras. */
  list: (query: List = {}, options?: CallOptions) => call('listEvents', { query }, options),
  /** Iterates over the events of all cameras and requests further pages as needed. */
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listEvents', { query: page }, options), query),
  /** Lists one page of the events of one camera. */
  listOfCamera: (cameraId: number, query: List = {}, options?: CallOptions) =>
    call('listCameraEvents', { params: { camera_id: cameraId }, query }, options),
  /** Iterates over the events of one camera and requests further pages as needed. */
  listAllOfCamera: (cameraId: number, query: List = {}, options?: CallOptions) =>
    iteratePages(
      (page: List) => call('listCameraEvents', { params: { camera_id: cameraId }, query: page }, options),
      query,
    ),
  /** Reports an event of an own camera. With a camera's `event_api_hash`, the client needs no credentials. */
  create: (body: Body<'createEvent'>, options?: CallOptions) => call('createEvent', { body }, options),
})
