// Cameras that others share, and their recordings where that is allowed.

import type { Call, CallOptions, Query } from '../call.ts'
import { iteratePages } from '../pages.ts'

type List = Query<'listSharedCameras'>

export type SharedCameras = ReturnType<typeof createSharedCameras>

export const createSharedCameras = (call: Call) => ({
  /** Lists one page. */
  list: (query: List = {}, options?: CallOptions) => call('listSharedCameras', { query }, options),
  /** Iterates over all cameras and requests further pages as needed. */
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listSharedCameras', { query: page }, options), query),
  /** The query sets the live view of the returned URLs, for example `{ max_width: 640, refresh_rate: 1 }`. */
  get: (id: number, query: Query<'getSharedCamera'> = {}, options?: CallOptions) =>
    call('getSharedCamera', { params: { camera_id: id }, query }, options),
  /** Removes the camera from the caller's shared cameras. */
  delete: (id: number, options?: CallOptions) => call('deleteSharedCamera', { params: { camera_id: id } }, options),

  getRecording: (id: number, options?: CallOptions) =>
    call('getSharedRecording', { params: { camera_id: id } }, options),
  /** Creates a link to download at most three hours of a recording as one MP4 file. */
  createDownload: (id: number, query: Query<'createSharedDownload'>, options?: CallOptions) =>
    call('createSharedDownload', { params: { camera_id: id }, query }, options),
  /**
   * Creates a link to images of recorded moments in a size such as `{ max_width: 320 }`. Append `&at=` and a time to
   * `url`.
   */
  getPictures: (id: number, query: Query<'getSharedPictures'> = {}, options?: CallOptions) =>
    call('getSharedPictures', { params: { camera_id: id }, query }, options),
  /** The footage and gaps in a time range of at most one day. */
  getTimeline: (id: number, query: Query<'getSharedTimeline'>, options?: CallOptions) =>
    call('getSharedTimeline', { params: { camera_id: id }, query }, options),
  /** Creates a playable stream from `start` to `end`, or without an end. */
  createStream: (id: number, query: Query<'createSharedStream'>, options?: CallOptions) =>
    call('createSharedStream', { params: { camera_id: id }, query }, options),
})
