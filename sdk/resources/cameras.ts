// Own cameras and their recordings.

import type { Body, Call, CallOptions, Query } from '../call.ts'
import { iteratePages } from '../pages.ts'

type List = Query<'listCameras'>

export type Cameras = ReturnType<typeof createCameras>

export const createCameras = (call: Call) => ({
  /** One page. */
  list: (query: List = {}, options?: CallOptions) => call('listCameras', { query }, options),
  /** Every camera, page after page. */
  listAll: (query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listCameras', { query: page }, options), query),
  /** The live view that the answer's addresses show can be tuned: `{ max_width: 640, refresh_rate: 1 }`. */
  get: (id: number, query: Query<'getCamera'> = {}, options?: CallOptions) =>
    call('getCamera', { params: { camera_id: id }, query }, options),
  /** Its address, without the password. */
  getSource: (id: number, options?: CallOptions) => call('getCameraSource', { params: { camera_id: id } }, options),
  /** How well its pictures arrive. */
  getStatistics: (id: number, options?: CallOptions) =>
    call('getCameraStatistics', { params: { camera_id: id } }, options),
  create: (body: Body<'createCamera'>, options?: CallOptions) => call('createCamera', { body }, options),
  /** What is at the address of a camera that is not added yet; takes some seconds. */
  detect: (body: Body<'detectStream'>, options?: CallOptions) => call('detectStream', { body }, options),
  /** Cameras in the networks of the server; takes some seconds. */
  discover: (options?: CallOptions) => call('discoverDevices', {}, options),
  /** The streams of a camera, as it tells by ONVIF; takes some seconds. */
  readDevice: (body: Body<'readDevice'>, options?: CallOptions) => call('readDevice', { body }, options),
  update: (id: number, body: Body<'updateCamera'>, options?: CallOptions) =>
    call('updateCamera', { params: { camera_id: id }, body }, options),
  /** The `event_api_hash` it had is worth nothing from then on. */
  rotateEventHash: (id: number, options?: CallOptions) =>
    call('rotateEventHash', { params: { camera_id: id } }, options),
  /** With its footage. */
  delete: (id: number, options?: CallOptions) => call('deleteCamera', { params: { camera_id: id } }, options),

  getRecording: (id: number, options?: CallOptions) => call('getRecording', { params: { camera_id: id } }, options),
  /** A recording as one MP4 file, at most three hours. */
  createDownload: (id: number, query: Query<'createDownload'>, options?: CallOptions) =>
    call('createDownload', { params: { camera_id: id }, query }, options),
  /** Pictures of recorded moments in a size, `{ max_width: 320 }`: append `&at=` and a moment to `url`. */
  getPictures: (id: number, query: Query<'getPictures'> = {}, options?: CallOptions) =>
    call('getPictures', { params: { camera_id: id }, query }, options),
  /** Where there is footage; at most a day. */
  getTimeline: (id: number, query: Query<'getTimeline'>, options?: CallOptions) =>
    call('getTimeline', { params: { camera_id: id }, query }, options),
  /** A recording to play, from `start` to `end` or on into live. */
  createStream: (id: number, query: Query<'createStream'>, options?: CallOptions) =>
    call('createStream', { params: { camera_id: id }, query }, options),
  /** Turns recording on: `{ retention: 'P7D' }`. */
  enableRecording: (id: number, body: Body<'enableRecording'>, options?: CallOptions) =>
    call('enableRecording', { params: { camera_id: id }, body }, options),
  updateRecording: (id: number, body: Body<'updateRecording'>, options?: CallOptions) =>
    call('updateRecording', { params: { camera_id: id }, body }, options),
  disableRecording: (id: number, options?: CallOptions) =>
    call('disableRecording', { params: { camera_id: id } }, options),
  /** `duration`: seconds, after which it stops by itself. */
  startRecording: (id: number, query: Query<'startRecording'> = {}, options?: CallOptions) =>
    call('startRecording', { params: { camera_id: id }, query }, options),
  /** Recording stays turned on, and can be started again. */
  stopRecording: (id: number, options?: CallOptions) => call('stopRecording', { params: { camera_id: id } }, options),
})
