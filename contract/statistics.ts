// Statistics on the frames and packets received from a camera: an extension.

import { type Static, Type } from 'typebox'
import { CameraPath } from './camera.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { nullable, Timestamp } from './schema.ts'

const percent = (of: string) =>
  nullable(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description: `Percentage of the ${of} of the last ten minutes that were lost; null when there were none.`,
    }),
  )

export const CameraStatistics = Type.Object({
  since: Type.Union([Timestamp, Type.Null()], {
    description:
      'When the counters began at 0: when the server started or the camera was added. Null before the first report.',
  }),
  bit_rate: nullable(
    Type.Integer({
      description: 'Bits per second over the last minute, including audio; null while no frames are received.',
    }),
  ),
  frame_rate: nullable(
    Type.Number({ description: 'Frames per second over the last minute; null while no frames are received.' }),
  ),
  clock_rate: nullable(
    Type.Number({
      description:
        'Seconds of real time per second of timestamps: 1 if the clock of the camera is right, 2 if its timestamps advance at half speed; null while no frames are received.',
    }),
  ),
  packet_loss_percent: percent('packets'),
  picture_loss_percent: percent('frames'),
  packets: Type.Integer({ description: 'RTP packets received; 0 for a camera that sends by HTTP.' }),
  lost_packets: Type.Integer({ description: 'RTP packets that never arrived.' }),
  pictures: Type.Integer({ description: 'Frames received completely.' }),
  lost_pictures: Type.Integer({
    description:
      'Frames that were lost, and frames dropped because part of them, or of a frame they depend on, was lost.',
  }),
  freezes: Type.Integer({
    description: 'Number of times that no frame was received for more than a second while the camera was connected.',
  }),
  frozen_seconds: Type.Number({ description: 'Total length of the freezes.' }),
  connections: Type.Integer({ description: 'Connections on which at least one frame was received.' }),
  deviations: Type.Array(Type.String(), {
    description:
      'What the camera does that standards forbid or leave open, and that the server understands: `client_directions`, `source_changes`, `sequence_steps`, `unusable_timestamps`, `joined_units`, `empty_fragments`, `private_units`, `transport_headers`, `head_lines`. More may be added.',
  }),
})

export type CameraStatistics = Static<typeof CameraStatistics>

export const statisticsEndpoints = {
  getCameraStatistics: endpoint({
    method: 'GET',
    path: '/v1/cameras/{camera_id}/statistics/',
    summary: 'Get reception statistics of a camera.',
    access: { all: ['read'], or: 'camera_access' },
    params: CameraPath,
    camera: 'own',
    status: 200,
    result: CameraStatistics,
    isExtension: true,
  }),
} satisfies Record<string, Endpoint>
