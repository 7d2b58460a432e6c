// Words and examples of recording, of own and of shared cameras.

import type { Endpoints } from '../endpoints.ts'
import type { OperationText } from './operation-text.ts'
import { sampleDownload, samplePictures, sampleRecording, sampleStream, sampleTimeline } from './samples.ts'

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

const notRecorded = 'No such camera of the caller, or it is not recorded.'
const notViewed = 'No such camera shared with the caller, it is not recorded, or this guest may not view recordings.'

const recordingWords =
  'How recording goes, how long footage is kept, and from when to when there is any; for what is missing in between ask for the timeline.'
const timelineWords =
  'The range may reach outside of the footage; where there is none, `segments` is empty. Breaks of up to 2 seconds do not split a segment. Times are rounded outwards to whole seconds.'
const streamWords =
  'Opened by `url` alone, without an Authorization header, for 24 hours. A `start` in a gap begins at the next footage. The playlist of more than 25 hours, or without `end`, grows as it is played; to jump beyond what it lists, ask for another stream. When nothing is recorded in the range the answer is 404.'

const picturesWords =
  'One address for all moments: with `&at=2026-05-01T00:03:12Z` appended it answers the newest key frame up to then as a JPEG, without an Authorization header, for two hours. The size is part of the signed address; for another size, ask again. When nothing is recorded at the moment, nor in the 10 seconds before it, the answer is 404.'

const downloadWords =
  'Opened by `url` alone, without an Authorization header, for 24 hours; ranges of bytes are answered, so that a download can be resumed. As it was recorded, cut to the range exactly. Where the camera changed its format within the range, pictures of one codec are one track, and sound of each configuration is a track of its own.'

export const recordingTexts: { readonly [Name in Names]: OperationText<Endpoints[Name]> } = {
  getStreamInfo: {
    tag: 'Recording',
    description:
      'Which moment was fetched last by whoever plays the stream. The address is in `stream_info` of the stream.',
    answer: { current_time: '2026-05-01T00:03:12Z', current_position: 192.4, speed: 1, state: 'playing' },
    refusals: { 404: 'No such stream of the caller, or it is older than 24 hours.' },
  },
  getRecording: {
    tag: 'Recording',
    description: recordingWords,
    answer: sampleRecording,
    refusals: { 404: notRecorded },
  },
  getTimeline: {
    tag: 'Recording',
    description: timelineWords,
    answer: sampleTimeline,
    refusals: { 404: notRecorded },
  },
  createStream: {
    tag: 'Recording',
    description: streamWords,
    answer: sampleStream,
    refusals: { 404: 'No such camera of the caller, it is not recorded, or nothing is recorded in the range.' },
  },
  getSharedRecording: {
    tag: 'Recording',
    description: recordingWords,
    answer: sampleRecording,
    refusals: { 404: notViewed },
  },
  getSharedTimeline: {
    tag: 'Recording',
    description: timelineWords,
    answer: sampleTimeline,
    refusals: { 404: notViewed },
  },
  createSharedStream: {
    tag: 'Recording',
    description: streamWords,
    answer: sampleStream,
    refusals: { 404: notViewed.replace(/\.$/, ', or nothing is recorded in the range.') },
  },
  enableRecording: {
    tag: 'Recording',
    description: 'While it is on already, this changes how long footage is kept, and starts it if it was stopped.',
    bodies: {
      'A week': { retention: 'P7D' },
      'A day, and at most 20 GB': { retention: 'P1D', max_bytes: 20_000_000_000 },
    },
    answer: { ...sampleRecording, status: 'READY', recording_start: null, recording_end: null },
  },
  updateRecording: {
    tag: 'Recording',
    description: 'What the body does not name stays. Footage beyond the new limit is deleted soon after.',
    bodies: { 'Two weeks': { retention: 'P14D' }, 'No limit of size': { max_bytes: null } },
    answer: { ...sampleRecording, retention: 'P14D' },
    refusals: { 404: notRecorded },
  },
  disableRecording: {
    tag: 'Recording',
    description: 'Footage stays until its time is over.',
    refusals: { 404: notRecorded },
  },
  startRecording: {
    tag: 'Recording',
    description:
      'With `duration` it stops again by itself. What is being recorded already is never ended sooner by this: without end it stays so, and a longer time wins.',
    refusals: { 404: notRecorded },
  },
  stopRecording: {
    tag: 'Recording',
    description:
      'Until it is started. The camera stays one that is recorded, with `applications` and footage as before; `status` is READY, and the timeline tells the gap as `stopped_by_user`.',
    refusals: { 404: notRecorded },
  },
  getPictures: {
    tag: 'Recording',
    description: picturesWords,
    answer: samplePictures,
    refusals: { 404: notRecorded },
  },
  getSharedPictures: {
    tag: 'Recording',
    description: picturesWords,
    answer: samplePictures,
    refusals: { 404: notViewed },
  },
  createDownload: {
    tag: 'Recording',
    description: downloadWords,
    answer: sampleDownload,
    refusals: { 404: 'No such camera of the caller, it is not recorded, or nothing is recorded in the range.' },
  },
  createSharedDownload: {
    tag: 'Recording',
    description: downloadWords,
    answer: sampleDownload,
    refusals: { 404: notViewed.replace(/\.$/, ', or nothing is recorded in the range.') },
  },
}
