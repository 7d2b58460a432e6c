// What happened at cameras, newest first.

import type { Body, Call, CallOptions, Query } from '../call.ts'
import { iteratePages } from '../pages.ts'

type List = Query<'listEvents'>

export type Events = ReturnType<typeof createEvents>

export const createEvents = (call: Call) => ({
  /** One page of the events of all cameras. */
  list: (query: List = {}, options?: CallOptions) => call('listEvents', { query }, options),
  /** Every event of all cameras, page after page. */
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listEvents', { query: page }, options), query),
  /** One page of the events of one camera. */
  listOfCamera: (cameraId: number, query: List = {}, options?: CallOptions) =>
    call('listCameraEvents', { params: { camera_id: cameraId }, query }, options),
  /** Every event of one camera, page after page. */
  listAllOfCamera: (cameraId: number, query: List = {}, options?: CallOptions) =>
    iteratePages(
      (page: List) => call('listCameraEvents', { params: { camera_id: cameraId }, query: page }, options),
      query,
    ),
  /** Of an own camera, or with a camera's `event_api_hash`, for which a client without credentials will do. */
  create: (body: Body<'createEvent'>, options?: CallOptions) => call('createEvent', { body }, options),
})
