// Own cameras and their recordings.

import type { Body, Call, CallOptions, Query } from '../call.ts'
import { iteratePages } from '../pages.ts'

type List = Query<'listCameras'>

export type Cameras = ReturnType<typeof createCameras>

export const createCameras = (call: Call) => ({
  /** Lists one page. */
  list: (query: List = {}, options?: CallOptions) => call('listCameras', { query }, options),
  /** Iterates over all cameras and requests further pages as needed. */
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listCameras', { query: page }, options), query),
  /** The query sets the live view of the returned URLs, for example `{ max_width: 640, refresh_rate: 1 }`. */
  get: (id: number, query: Query<'getCamera'> = {}, options?: CallOptions) =>
    call('getCamera', { params: { camera_id: id }, query }, options),
  /** The URL of the camera's stream and its username, without the password. */
  getSource: (id: number, options?: CallOptions) => call('getCameraSource', { params: { camera_id: id } }, options),
  /** Statistics on received and lost frames and packets. */
  getStatistics: (id: number, options?: CallOptions) =>
    call('getCameraStatistics', { params: { camera_id: id } }, options),
  create: (body: Body<'createCamera'>, options?: CallOptions) => call('createCamera', { body }, options),
  /** Tests a camera URL before the camera is added. Takes some seconds. */
  detect: (body: Body<'detectStream'>, options?: CallOptions) => call('detectStream', { body }, options),
  /** Finds cameras in the server's networks. Takes some seconds. */
  discover: (options?: CallOptions) => call('discoverDevices', {}, options),
  /** Reads the streams of a camera by ONVIF. Takes some seconds. */
  readDevice: (body: Body<'readDevice'>, options?: CallOptions) => call('readDevice', { body }, options),
  update: (id: number, body: Body<'updateCamera'>, options?: CallOptions) =>
    call('updateCamera', { params: { camera_id: id }, body }, options),
  /** Replaces the `event_api_hash` of the camera. The previous one stops working. */
  rotateEventHash: (id: number, options?: CallOptions) =>
    call('rotateEventHash', { params: { camera_id: id } }, options),
  /** Deletes the camera and its footage. */
  delete: (id: number, options?: CallOptions) => call('deleteCamera', { params: { camera_id: id } }, options),

  getRecording: (id: number, options?: CallOptions) => call('getRecording', { params: { camera_id: id } }, options),
  /** Creates a link to download at most three hours of a recording as one MP4 file. */
  createDownload: (id: number, query: Query<'createDownload'>, options?: CallOptions) =>
    call('createDownload', { params: { camera_id: id }, query }, options),
  /**
   * Creates a link to images of recorded moments in a size such as `{ max_width: 320 }`. Append `&at=` and a time to
   * `url`.
   */
  getPictures: (id: number, query: Query<'getPictures'> = {}, options?: CallOptions) =>
    call('getPictures', { params: { camera_id: id }, query }, options),
  /** The footage and gaps in a time range of at most one day. */
  getTimeline: (id: number, query: Query<'getTimeline'>, options?: CallOptions) =>
    call('getTimeline', { params: { camera_id: id }, query }, options),
  /** Creates a playable stream from `start` to `end`, or without an end. */
  createStream: (id: number, query: Query<'createStream'>, options?: CallOptions) =>
    call('createStream', { params: { camera_id: id }, query }, options),
  /** Turns recording on, for example with `{ retention: 'P7D' }`. */
  enableRecording: (id: number, body: Body<'enableRecording'>, options?: CallOptions) =>
    call('enableRecording', { params: { camera_id: id }, body }, options),
  updateRecording: (id: number, body: Body<'updateRecording'>, options?: CallOptions) =>
    call('updateRecording', { params: { camera_id: id }, body }, options),
  disableRecording: (id: number, options?: CallOptions) =>
    call('disableRecording', { params: { camera_id: id } }, options),
  /** Recording stops automatically after `duration` seconds, if set. */
  startRecording: (id: number, query: Query<'startRecording'> = {}, options?: CallOptions) =>
    call('startRecording', { params: { camera_id: id }, query }, options),
  /** Stops recording. It remains turned on and can be started again. */
  stopRecording: (id: number, options?: CallOptions) => call('stopRecording', { params: { camera_id: id } }, options),
})
