// Words and examples of own and shared cameras.

import type { Endpoints } from '../endpoints.ts'
import type { OperationText } from './operation-text.ts'
import { pageOf, sampleCamera, sampleSharedCamera } from './samples.ts'

type Names = 'listCameras' | 'getCamera' | 'listSharedCameras' | 'getSharedCamera'
type OwnNames =
  | 'createCamera'
  | 'updateCamera'
  | 'getCameraSource'
  | 'getCameraStatistics'
  | 'deleteCamera'
  | 'rotateEventHash'
type GuestNames = 'deleteSharedCamera'

const viewWords =
  'The live-view parameters become part of the addresses in the answer: ask with them, then open `streams[0].url` or `live_snapshot`. The picture keeps its aspect ratio and is never enlarged.'

export const cameraTexts: { readonly [Name in Names | OwnNames | GuestNames]: OperationText<Endpoints[Name]> } = {
  listCameras: { tag: 'Cameras', description: viewWords, answer: pageOf(sampleCamera) },
  getCamera: { tag: 'Cameras', description: viewWords, answer: sampleCamera },
  listSharedCameras: { tag: 'Shared cameras', description: viewWords, answer: pageOf(sampleSharedCamera) },
  getSharedCamera: {
    tag: 'Shared cameras',
    description: `${viewWords} A camera of the caller’s own is not found here.`,
    answer: sampleSharedCamera,
  },
  deleteSharedCamera: {
    tag: 'Shared cameras',
    description:
      'The caller is no guest of the camera any more, and the owner sees that the guest is gone; only the owner can invite them again. Media addresses are refused at once; open streams end within 5 seconds.',
    refusals: { 404: 'Nobody shares such a camera with the caller.' },
  },
  createCamera: {
    tag: 'Cameras',
    description:
      'The server connects to it at once; `status`, and `status_reason` where something is wrong, tell how that goes. The password is never shown again.',
    bodies: {
      'An RTSP camera': {
        name: 'Front door',
        url: 'rtsp://192.168.1.20/stream1',
        username: 'viewer',
        password: 'sesame',
      },
      'User information in the address': { name: 'Yard', url: 'rtsp://viewer:sesame@192.168.1.21/h265', type: 'h265' },
      'An MJPEG camera': { name: 'Hall', url: 'http://192.168.1.22/mjpg/video.mjpg' },
    },
    answer: {
      ...sampleCamera,
      status: 'unknown',
      snapshot: null,
      applications: [],
      has_recording: false,
      audio_enabled: false,
    },
  },
  updateCamera: {
    tag: 'Cameras',
    description:
      'What the body does not name stays. An address of another host without user information takes no stored user name and password along.',
    bodies: {
      'A new name': { name: 'Back door' },
      'A new address': { url: 'rtsp://192.168.1.30/stream1', username: 'viewer', password: 'sesame' },
    },
    answer: { ...sampleCamera, name: 'Back door' },
  },
  getCameraSource: {
    tag: 'Cameras',
    description:
      'For a form in which the camera is changed. An address that still holds `***` is refused when it is sent back; one that is not sent stays.',
    answer: { url: 'rtsp://192.168.1.20/stream1', username: 'viewer', has_password: true },
  },
  getCameraStatistics: {
    tag: 'Cameras',
    description:
      'Rates are those of the last minute, percentages those of the last ten minutes. A camera that nobody records or watches is connected once a minute for a moment, so it has no rates.',
    answer: {
      since: '2026-05-01T06:00:00Z',
      bit_rate: 4_120_000,
      frame_rate: 25,
      clock_rate: 1,
      packet_loss_percent: 0.02,
      picture_loss_percent: 0.6,
      packets: 8_640_000,
      lost_packets: 1_730,
      pictures: 537_000,
      lost_pictures: 3_100,
      freezes: 41,
      frozen_seconds: 63.2,
      connections: 1,
    },
  },
  rotateEventHash: {
    tag: 'Cameras',
    description: 'The one before is worth nothing from then on: for a hash that got into wrong hands.',
    answer: { ...sampleCamera, event_api_hash: '8b21f0c6d4e95a7730fe1c2d9a4b6c5e' },
  },
  deleteCamera: { tag: 'Cameras', description: 'For good; open streams of it end.' },
}
