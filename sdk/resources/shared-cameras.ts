// Cameras that others share, and their recordings where that is allowed.

import type { Call, CallOptions, Query } from '../call.ts'
import { iteratePages } from '../pages.ts'

type List = Query<'listSharedCameras'>

export type SharedCameras = ReturnType<typeof createSharedCameras>

export const createSharedCameras = (call: Call) => ({
  /** One page. */
  list: (query: List = {}, options?: CallOptions) => call('listSharedCameras', { query }, options),
  /** Every camera, page after page. */
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listSharedCameras', { query: page }, options), query),
  /** The live view that the answer's addresses show can be tuned: `{ max_width: 640, refresh_rate: 1 }`. */
  get: (id: number, query: Query<'getSharedCamera'> = {}, options?: CallOptions) =>
    call('getSharedCamera', { params: { camera_id: id }, query }, options),
  /** Gives the share up. */
  delete: (id: number, options?: CallOptions) => call('deleteSharedCamera', { params: { camera_id: id } }, options),

  getRecording: (id: number, options?: CallOptions) =>
    call('getSharedRecording', { params: { camera_id: id } }, options),
  /** A recording as one MP4 file, at most three hours. */
  createDownload: (id: number, query: Query<'createSharedDownload'>, options?: CallOptions) =>
    call('createSharedDownload', { params: { camera_id: id }, query }, options),
  /** Pictures of recorded moments in a size, `{ max_width: 320 }`: append `&at=` and a moment to `url`. */
  getPictures: (id: number, query: Query<'getSharedPictures'> = {}, options?: CallOptions) =>
    call('getSharedPictures', { params: { camera_id: id }, query }, options),
  /** Where there is footage; at most a day. */
  getTimeline: (id: number, query: Query<'getSharedTimeline'>, options?: CallOptions) =>
    call('getSharedTimeline', { params: { camera_id: id }, query }, options),
  /** A recording to play, from `start` to `end` or on into live. */
  createStream: (id: number, query: Query<'createSharedStream'>, options?: CallOptions) =>
    call('createSharedStream', { params: { camera_id: id }, query }, options),
})
