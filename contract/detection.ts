// What is at the address of a camera that is not added yet, and which cameras there are: an extension. Nothing of it is kept.

import { type Static, Type } from 'typebox'
import { CameraType, NewCamera } from './camera.ts'
import { problemCodes } from './camera-problem.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { nullable } from './schema.ts'

const { url, username, password } = NewCamera.properties

export const NewDetection = Type.Object({
  url: {
    ...url,
    description:
      'URL of the stream. For owners of the server a host is enough, with its port or without: the server asks it by ONVIF and then tries common URLs, until one has a stream or a login is needed.',
  },
  username,
  password,
})

export type NewDetection = Static<typeof NewDetection>

const measured = (description: string) =>
  nullable(Type.Number({ description: `${description}; null if it could not be measured in time.` }))

export const DetectedVideo = Type.Object({
  type: CameraType,
  codec: nullable(
    Type.String({ description: 'Codec with profile and level (RFC 6381); null if no frame was received.' }),
  ),
  width: nullable(Type.Integer({ description: 'Pixels.' })),
  height: nullable(Type.Integer({ description: 'Pixels.' })),
  frame_rate: measured('Frames per second'),
  bit_rate: measured('Bits per second'),
  key_frame_interval: measured('Seconds from one key frame to the next'),
})

export const DetectedAudio = Type.Object({
  codec: Type.String({ description: 'For example `aac`, `opus`, `pcmu`, `pcma` or `g726-32`.' }),
  sample_rate: Type.Integer({ description: 'Hz.' }),
  channels: Type.Integer(),
})

export const SuggestedUrl = Type.Object({
  maker: Type.String({ description: 'Manufacturer whose cameras use this path.' }),
  url: Type.String({ format: 'uri', description: 'URL on the host of the request, without credentials.' }),
})

export const DetectionProblem = Type.Object({
  code: Type.Enum([...problemCodes], {
    description:
      '`address_refused`: cameras are not allowed at this address. `not_a_camera`: something other than a camera responds at this port. `unsupported`: the server cannot read this kind of stream. `no_frames`: the camera responds but sends no video. `not_told`: no video was found in a private network; only owners of the server are shown the reason.',
  }),
  detail: Type.String({ description: 'What is wrong and what to try, for people.' }),
  suggestions: Type.Array(SuggestedUrl, {
    description: 'Common URLs on this host, if the path seems to be wrong. They have not been tested.',
  }),
})

export const StreamDetection = Type.Object({
  url: Type.String({
    format: 'uri',
    description:
      'The URL that was probed, without credentials. Anything that looks like a password is replaced with `***`. For a host, the URL that was found there; use it to add the camera.',
  }),
  type: nullable(
    Type.Enum(['h264', 'h265', 'mjpeg'], { description: 'Type to use when you add the camera; null if unknown.' }),
  ),
  transport: nullable(
    Type.Enum(['rtsp_tcp', 'rtsp_udp', 'http_stream', 'http_picture'], {
      description:
        '`http_stream`: MJPEG, or a container such as MPEG-TS. `http_picture`: a single JPEG that the server requests repeatedly.',
    }),
  ),
  video: nullable(DetectedVideo),
  audio: nullable(DetectedAudio),
  audio_problem: nullable(Type.String({ description: 'Why the audio cannot be used; null if it can.' })),
  snapshot: nullable(
    Type.Object(
      {
        url: Type.String({ format: 'uri', description: 'A `data:` URL.' }),
        width: Type.Integer(),
        height: Type.Integer(),
      },
      { description: 'A small JPEG of the newest key frame.' },
    ),
  ),
  problem: nullable(DetectionProblem),
})

export type StreamDetection = Static<typeof StreamDetection>

export const OnvifDeviceSource = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      'Of the device service, as discovery tells it: http://192.168.1.20/onvif/device_service. A host alone, with its port or without, is enough.',
  }),
  username,
  password,
})

export type OnvifDeviceSource = Static<typeof OnvifDeviceSource>

const reported = (description: string) => nullable(Type.String({ description }))

export const DiscoveredDevice = Type.Object({
  id: Type.String({ description: 'Identifier of the device, independent of its address; usually a URN.' }),
  address: Type.String({ description: 'Address that the device responded from.' }),
  url: Type.String({
    format: 'uri',
    description: 'URL of the device service. Use it to list the streams of the device.',
  }),
  name: reported('Name that the device reports.'),
  hardware: reported('Model that the device reports.'),
  location: reported('Location that the device reports.'),
})

export const OnvifDiscovery = Type.Object({
  devices: Type.Array(DiscoveredDevice, { description: 'Sorted by address.' }),
})

export type OnvifDiscovery = Static<typeof OnvifDiscovery>

export const OnvifProfile = Type.Object({
  token: Type.String({ description: 'Token of the profile, unique within the device.' }),
  name: Type.String(),
  use: nullable(
    Type.Enum(['main', 'sub'], {
      description:
        '`main` for the profile with the highest resolution, `sub` for one that is small enough for tiles, and null for the others.',
    }),
  ),
  type: nullable(
    Type.Enum(['h264', 'h265', 'mjpeg'], { description: 'Null if the server does not support the encoding.' }),
  ),
  encoding: reported('Name of the encoding as the device reports it.'),
  width: nullable(Type.Integer()),
  height: nullable(Type.Integer()),
  frame_rate: nullable(Type.Integer({ description: 'Configured maximum frame rate, in frames per second.' })),
  bit_rate: nullable(Type.Integer({ description: 'Configured maximum bit rate, in bits per second.' })),
  has_audio: Type.Boolean(),
  url: nullable(
    Type.String({
      format: 'uri',
      description:
        'URL of the stream, without credentials. Use it as the `url` of a new camera. If it is null, see `url_problem`.',
    }),
  ),
  url_problem: reported('Explains why `url` is null.'),
  snapshot_url: nullable(Type.String({ format: 'uri', description: 'URL of a single JPEG image.' })),
})

export const OnvifDevice = Type.Object({
  url: Type.String({ format: 'uri', description: 'URL of the device service that was used, without credentials.' }),
  manufacturer: reported('Null if the device could not be reached.'),
  model: reported('Null if the device could not be reached.'),
  firmware_version: reported('Null if the device could not be reached.'),
  profiles: Type.Array(OnvifProfile),
  problem: nullable(
    Type.Object(
      { code: DetectionProblem.properties.code, detail: DetectionProblem.properties.detail },
      { description: 'Why the result is incomplete; null if it is complete.' },
    ),
  ),
})

export type OnvifDevice = Static<typeof OnvifDevice>

const access = { all: ['read', 'write'], or: 'camera_create' } as const

export const detectionEndpoints = {
  detectStream: endpoint({
    method: 'POST',
    path: '/v1/cameras/stream-detection/',
    summary: 'Probe a camera URL.',
    access,
    body: NewDetection,
    status: 200,
    result: StreamDetection,
    isExtension: true,
  }),
  discoverDevices: endpoint({
    method: 'POST',
    path: '/v1/cameras/onvif-discovery/',
    summary: 'Discover cameras on the server’s network.',
    access,
    status: 200,
    result: OnvifDiscovery,
    isExtension: true,
  }),
  readDevice: endpoint({
    method: 'POST',
    path: '/v1/cameras/onvif-profiles/',
    summary: 'List the streams of an ONVIF camera.',
    access,
    body: OnvifDeviceSource,
    status: 200,
    result: OnvifDevice,
    isExtension: true,
  }),
} satisfies Record<string, Endpoint>
