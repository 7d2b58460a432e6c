// Descriptions and examples for own and shared cameras.

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

const viewText =
  'The live-view parameters become part of the URLs in the response. Set them in this request, then open `streams[0].url` or `live_snapshot`. The image keeps its aspect ratio and is never enlarged.'

export const cameraTexts: { readonly [Name in Names | OwnNames | GuestNames]: OperationText<Endpoints[Name]> } = {
  listCameras: { tag: 'Cameras', description: viewText, answer: pageOf(sampleCamera) },
  getCamera: { tag: 'Cameras', description: viewText, answer: sampleCamera },
  listSharedCameras: { tag: 'Shared cameras', description: viewText, answer: pageOf(sampleSharedCamera) },
  getSharedCamera: {
    tag: 'Shared cameras',
    description: `${viewText} The caller’s own cameras are not found here.`,
    answer: sampleSharedCamera,
  },
  deleteSharedCamera: {
    tag: 'Shared cameras',
    description:
      'The caller is no longer a guest of the camera. The owner can see that the guest has left, and only the owner can invite them again. Media URLs stop working immediately; open streams end within 5 seconds.',
    refusals: { 404: 'No camera with this `id` is shared with the caller.' },
  },
  createCamera: {
    tag: 'Cameras',
    description:
      'The server connects to the camera immediately. `status` shows the result, and `status_reason` explains a problem. The password is never returned.',
    bodies: {
      'An RTSP camera': {
        name: 'Front door',
        url: 'rtsp://192.168.1.20/stream1',
        username: 'viewer',
        password: 'sesame',
      },
      'Credentials in the URL': { name: 'Yard', url: 'rtsp://viewer:sesame@192.168.1.21/h265', type: 'h265' },
      'An MJPEG camera': { name: 'Hall', url: 'http://192.168.1.22/mjpg/video.mjpg' },
    },
    answer: {
      ...sampleCamera,
      status: 'unknown',
      snapshot: null,
      applications: [],
      has_recording: false,
      audio_enabled: false,
      recording_status: null,
    },
  },
  updateCamera: {
    tag: 'Cameras',
    description:
      'Fields that the body omits keep their values. If the new URL points to another host and contains no credentials, the stored username and password are removed.',
    bodies: {
      'A new name': { name: 'Back door' },
      'A new URL': { url: 'rtsp://192.168.1.30/stream1', username: 'viewer', password: 'sesame' },
    },
    answer: { ...sampleCamera, name: 'Back door' },
  },
  getCameraSource: {
    tag: 'Cameras',
    description:
      'Use it to fill in a form that edits the camera. Secrets in the URL are replaced with `***`. A URL that contains `***` is rejected when you send it back; omit the field to keep the URL.',
    answer: { url: 'rtsp://192.168.1.20/stream1', username: 'viewer', has_password: true },
  },
  getCameraStatistics: {
    tag: 'Cameras',
    description:
      'Rates cover the last minute, and percentages cover the last ten minutes. The server connects to a camera that is neither recorded nor watched only briefly, once a minute, so such a camera has no rates.',
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
      deviations: ['client_directions'],
    },
  },
  rotateEventHash: {
    tag: 'Cameras',
    description: 'The previous hash stops working immediately. Use this when a hash may have leaked.',
    answer: { ...sampleCamera, event_api_hash: '8b21f0c6d4e95a7730fe1c2d9a4b6c5e' },
  },
  deleteCamera: { tag: 'Cameras', description: 'This cannot be undone. Open streams of the camera end.' },
}
