// Words and examples of looking at addresses of cameras.

import type { Endpoints } from '../endpoints.ts'
import type { OperationText } from './operation-text.ts'

export const detectionTexts: { readonly detectStream: OperationText<Endpoints['detectStream']> } = {
  detectStream: {
    tag: 'Cameras',
    description:
      'Connects to it for some seconds, ten at most, and keeps nothing. That there is no camera, or none that answers, is an answer too: `problem` says why and what to try. What became known before, such as the type, is there all the same. Close the connection to end it early.',
    bodies: {
      'An RTSP camera': { url: 'rtsp://192.168.1.20/stream1', username: 'viewer', password: 'sesame' },
      'User information in the address': { url: 'rtsp://viewer:sesame@192.168.1.21/h265' },
    },
    answer: {
      url: 'rtsp://192.168.1.20/stream1',
      type: 'h264',
      transport: 'rtsp_tcp',
      video: {
        type: 'h264',
        codec: 'avc1.4d401f',
        width: 1280,
        height: 720,
        frame_rate: 25,
        bit_rate: 2048000,
        key_frame_interval: 2,
      },
      audio: { codec: 'aac', sample_rate: 16000, channels: 1 },
      audio_problem: null,
      snapshot: { url: 'data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2wBD', width: 640, height: 360 },
      problem: null,
    },
    refusals: {
      429: 'More than two at once, or 30 in a minute.',
      503: 'Too many addresses are being looked at for all users together.',
    },
  },
}
