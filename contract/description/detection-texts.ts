// Descriptions and examples for connection tests and discovery.

import type { detectionEndpoints } from '../detection.ts'
import type { Endpoints } from '../endpoints.ts'
import type { OperationText } from './operation-text.ts'

type Names = keyof typeof detectionEndpoints

const refusals = {
  429: 'More than two requests at once, or more than 30 in a minute.',
  503: 'Too many probes are running for all users together.',
} as const

export const detectionTexts: { readonly [Name in Names]: OperationText<Endpoints[Name]> } = {
  detectStream: {
    tag: 'Cameras',
    description:
      'The server connects to the URL for up to ten seconds, or searches the host for up to thirty, and stores nothing. If there is no camera or it does not respond, the response is still 200, and `problem` explains the reason and suggests what to try. Fields that were detected before the problem, such as the type, are included. Close the connection to stop early.',
    bodies: {
      'An RTSP camera': { url: 'rtsp://192.168.1.20/stream1', username: 'viewer', password: 'sesame' },
      'Credentials in the URL': { url: 'rtsp://viewer:sesame@192.168.1.21/h265' },
      'Host only': { url: '192.168.1.20', username: 'viewer', password: 'sesame' },
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
    refusals,
  },
  discoverDevices: {
    tag: 'Cameras',
    description:
      'Uses WS-Discovery for three seconds on the networks of the server. Only for owners of the server. Cameras with ONVIF turned off are not found. Only devices at addresses where cameras are allowed are returned.',
    answer: {
      devices: [
        {
          id: 'urn:uuid:1b1c8e3a-5b0d-4a61-9d5e-2f6c7a8b9c0d',
          address: '192.168.1.20',
          url: 'http://192.168.1.20/onvif/device_service',
          name: 'Front door',
          hardware: 'DS-2CD2143',
          location: null,
        },
      ],
    },
    refusals,
  },
  readDevice: {
    tag: 'Cameras',
    description:
      'Uses ONVIF for up to twelve seconds. To add the camera, use the `url` of a profile with the same username and password. If the device rejects the request or does not respond, the response is still 200, and `problem` explains the reason.',
    bodies: {
      'A discovered device': {
        url: 'http://192.168.1.20/onvif/device_service',
        username: 'viewer',
        password: 'sesame',
      },
      'Host only': { url: '192.168.1.20' },
    },
    answer: {
      url: 'http://192.168.1.20/onvif/device_service',
      manufacturer: 'HIKVISION',
      model: 'DS-2CD2143',
      firmware_version: 'V5.7.3',
      profiles: [
        {
          token: 'Profile_1',
          name: 'mainStream',
          use: 'main',
          type: 'h265',
          encoding: 'H265',
          width: 2560,
          height: 1440,
          frame_rate: 25,
          bit_rate: 4096000,
          has_audio: true,
          url: 'rtsp://192.168.1.20:554/Streaming/Channels/101?transportmode=unicast&profile=Profile_1',
          url_problem: null,
          snapshot_url: 'http://192.168.1.20/onvif-http/snapshot?Profile_1',
        },
      ],
      problem: null,
    },
    refusals,
  },
}
