// What is at the address of a camera that is not added yet: an extension. Nothing of it is kept.

import { type Static, Type } from 'typebox'
import { CameraType, NewCamera } from './camera.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { nullable } from './schema.ts'

const { url, username, password } = NewCamera.properties

export const NewDetection = Type.Object({ url, username, password })

export type NewDetection = Static<typeof NewDetection>

const measured = (description: string) =>
  nullable(Type.Number({ description: `${description}; null when it could not be measured in the time.` }))

export const DetectedVideo = Type.Object({
  type: CameraType,
  codec: nullable(Type.String({ description: 'With its profile and level (RFC 6381); null when no picture came.' })),
  width: nullable(Type.Integer({ description: 'Pixels.' })),
  height: nullable(Type.Integer({ description: 'Pixels.' })),
  frame_rate: measured('Pictures per second'),
  bit_rate: measured('Bits per second'),
  key_frame_interval: measured('Seconds from one key frame to the next'),
})

export const DetectedAudio = Type.Object({
  codec: Type.String({ description: '`aac`, `opus`, `pcmu`, `pcma` or `g726-32` and the like.' }),
  sample_rate: Type.Integer({ description: 'Hz.' }),
  channels: Type.Integer(),
})

/** Of what stands between an address and pictures, in words a program can use. */
export const problemCodes = [
  'address_refused',
  'unknown_host',
  'unreachable',
  'timed_out',
  'tls_failed',
  'not_a_camera',
  'login_needed',
  'login_refused',
  'not_allowed',
  'no_such_stream',
  'busy',
  'redirected',
  'no_video',
  'unsupported',
  'no_frames',
  'failed',
] as const

export const SuggestedUrl = Type.Object({
  maker: Type.String({ description: 'Whose cameras have their stream there.' }),
  url: Type.String({ format: 'uri', description: 'At the host of the request; without user information.' }),
})

export const DetectionProblem = Type.Object({
  code: Type.Enum([...problemCodes], {
    description:
      '`address_refused`: cameras may not be there. `not_a_camera`: something else answers at this port. `unsupported`: there is a stream, which the server cannot read. `no_frames`: the camera answers, but no picture came.',
  }),
  detail: Type.String({ description: 'What is wrong and what to try, as readable sentences.' }),
  suggestions: Type.Array(SuggestedUrl, {
    description: 'Usual addresses at this host, where the path is what is wrong; they have not been tried.',
  }),
})

export const StreamDetection = Type.Object({
  url: Type.String({ format: 'uri', description: 'What was looked at, without user information.' }),
  type: nullable(Type.Enum(['h264', 'h265', 'mjpeg'], { description: 'For adding the camera; null when not known.' })),
  transport: nullable(
    Type.Enum(['rtsp_tcp', 'rtsp_udp', 'http_stream', 'http_picture'], {
      description: '`http_picture`: a single picture, which is asked for again and again.',
    }),
  ),
  video: nullable(DetectedVideo),
  audio: nullable(DetectedAudio),
  audio_problem: nullable(Type.String({ description: 'Why its sound is left out; null when it is not.' })),
  snapshot: nullable(
    Type.Object(
      {
        url: Type.String({ format: 'uri', description: 'A `data:` URL.' }),
        width: Type.Integer(),
        height: Type.Integer(),
      },
      { description: 'A small JPEG of what it shows.' },
    ),
  ),
  problem: nullable(DetectionProblem),
})

export type StreamDetection = Static<typeof StreamDetection>

export const detectionEndpoints = {
  detectStream: endpoint({
    method: 'POST',
    path: '/v1/cameras/stream-detection/',
    summary: 'Looks what is at the address of a camera.',
    access: { all: ['read', 'write'], or: 'camera_create' },
    body: NewDetection,
    status: 200,
    result: StreamDetection,
    isExtension: true,
  }),
} satisfies Record<string, Endpoint>
