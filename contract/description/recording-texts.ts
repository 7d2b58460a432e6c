// Descriptions and examples for recordings of own and shared cameras.

import type { Endpoints } from '../endpoints.ts'
import type { OperationText } from './operation-text.ts'
import { sampleDownload, sampleRecordedImages, sampleRecording, sampleStream, sampleTimeline } from './samples.ts'

type Names =
  | 'getStreamInfo'
  | 'getRecording'
  | 'getTimeline'
  | 'createStream'
  | 'getSharedRecording'
  | 'getSharedTimeline'
  | 'createSharedStream'
  | 'enableRecording'
  | 'updateRecording'
  | 'disableRecording'
  | 'startRecording'
  | 'stopRecording'
  | 'getPictures'
  | 'getSharedPictures'
  | 'createDownload'
  | 'createSharedDownload'

const notRecorded = 'The caller has no camera with this `id`, or it is not recorded.'
const notViewed =
  'No camera with this `id` is shared with the caller, it is not recorded, or the guest is not allowed to view recordings.'

const recordingText =
  'Returns the recording status, the retention, and the times of the first and last footage. For gaps in between, request the timeline.'
const timelineText =
  'The range may extend beyond the footage. If there is no footage, `segments` is empty. Gaps of up to 2 seconds do not split a segment. Times are rounded outwards to whole seconds.'
const streamText =
  '`url` works without an Authorization header for 24 hours. If `start` is in a gap, the stream begins at the next footage. A playlist that is longer than 25 hours or has no `end` grows while it is played; to seek beyond its end, create another stream. If nothing is recorded in the range, the response is 404.'

const recordedImagesText =
  'One URL serves all times: append `&at=2026-05-01T00:03:12Z` to get the latest key frame up to that time as a JPEG. The URL works without an Authorization header for two hours. The size is part of the signed URL; for another size, create another link. If nothing is recorded at that time or in the 10 seconds before it, the response is 404.'

const downloadText =
  '`url` works without an Authorization header for 24 hours and supports byte ranges, so an interrupted download can be resumed. The file contains the footage as it was recorded, cut exactly to the range. If the camera changed its format within the range, the video of each codec is one track, and each audio configuration is a separate track.'

export const recordingTexts: { readonly [Name in Names]: OperationText<Endpoints[Name]> } = {
  getStreamInfo: {
    tag: 'Recording',
    description:
      'Returns the time that the player of the stream requested last. The URL of this operation is in `stream_info` of the stream.',
    answer: { current_time: '2026-05-01T00:03:12Z', current_position: 192.4, speed: 1, state: 'playing' },
    refusals: { 404: 'The caller has no such stream, or it is older than 24 hours.' },
  },
  getRecording: {
    tag: 'Recording',
    description: recordingText,
    answer: sampleRecording,
    refusals: { 404: notRecorded },
  },
  getTimeline: {
    tag: 'Recording',
    description: timelineText,
    answer: sampleTimeline,
    refusals: { 404: notRecorded },
  },
  createStream: {
    tag: 'Recording',
    description: streamText,
    answer: sampleStream,
    refusals: {
      404: 'The caller has no camera with this `id`, it is not recorded, or nothing is recorded in the range.',
    },
  },
  getSharedRecording: {
    tag: 'Recording',
    description: recordingText,
    answer: sampleRecording,
    refusals: { 404: notViewed },
  },
  getSharedTimeline: {
    tag: 'Recording',
    description: timelineText,
    answer: sampleTimeline,
    refusals: { 404: notViewed },
  },
  createSharedStream: {
    tag: 'Recording',
    description: streamText,
    answer: sampleStream,
    refusals: { 404: notViewed.replace(/\.$/, ', or nothing is recorded in the range.') },
  },
  enableRecording: {
    tag: 'Recording',
    description: 'If recording is already on, this updates the retention, and starts recording if it was stopped.',
    bodies: {
      'A week': { retention: 'P7D' },
      'A day, at most 20 GB': { retention: 'P1D', max_bytes: 20_000_000_000 },
    },
    answer: { ...sampleRecording, status: 'READY', recording_start: null, recording_end: null },
  },
  updateRecording: {
    tag: 'Recording',
    description: 'Fields that the body omits keep their values. Footage beyond the new limit is deleted soon after.',
    bodies: { 'Two weeks': { retention: 'P14D' }, 'No size limit': { max_bytes: null } },
    answer: { ...sampleRecording, retention: 'P14D' },
    refusals: { 404: notRecorded },
  },
  disableRecording: {
    tag: 'Recording',
    description: 'Existing footage is kept until it expires.',
    refusals: { 404: notRecorded },
  },
  startRecording: {
    tag: 'Recording',
    description:
      'With `duration`, recording stops automatically. This never shortens a recording that is already running: one without an end keeps running, and of two durations the later end applies.',
    refusals: { 404: notRecorded },
  },
  stopRecording: {
    tag: 'Recording',
    description:
      'Recording stays stopped until you start it. It remains turned on: `applications` and the footage do not change, `status` is READY, and the timeline shows the gap with the reason `stopped_by_user`.',
    refusals: { 404: notRecorded },
  },
  getPictures: {
    tag: 'Recording',
    description: recordedImagesText,
    answer: sampleRecordedImages,
    refusals: { 404: notRecorded },
  },
  getSharedPictures: {
    tag: 'Recording',
    description: recordedImagesText,
    answer: sampleRecordedImages,
    refusals: { 404: notViewed },
  },
  createDownload: {
    tag: 'Recording',
    description: downloadText,
    answer: sampleDownload,
    refusals: {
      404: 'The caller has no camera with this `id`, it is not recorded, or nothing is recorded in the range.',
    },
  },
  createSharedDownload: {
    tag: 'Recording',
    description: downloadText,
    answer: sampleDownload,
    refusals: { 404: notViewed.replace(/\.$/, ', or nothing is recorded in the range.') },
  },
}
