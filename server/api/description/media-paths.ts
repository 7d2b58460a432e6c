// Describes live and recorded media. Clients get complete media URLs from other responses and never build them, so the
// descriptions only say what each URL returns.

import { streamSpeeds } from '../../../contract/recording.ts'
import {
  notModified,
  type Operation,
  type Parameter,
  type PathItem,
  type RequestBody,
  type Response,
} from './openapi.ts'
import { type RefusalStatus, referToRefusal } from './refusals.ts'

const cameraId: Parameter = {
  name: 'camera_id',
  in: 'path',
  required: true,
  description: '`id` of the camera.',
  schema: { type: 'integer' },
  example: 12,
}

const token: Parameter = {
  name: 'token',
  in: 'query',
  required: true,
  description: 'Signature; part of the URL in the camera object. Other parameters are ignored.',
  schema: { type: 'string' },
  example: 'AgEBaF3k4AEMBwk',
}

const streamId: Parameter = {
  name: 'stream_id',
  in: 'path',
  required: true,
  description: 'Secret id of the stream: whoever knows it may play the stream.',
  schema: { type: 'string' },
  example: '9d2f6a0c4b8e4f0f9a1b2c3d4e5f6071',
}

const refuse = (...statuses: RefusalStatus[]) =>
  Object.fromEntries(statuses.map((status) => [status, referToRefusal(status)]))

const answer = (description: string, type: string, own: Response['headers'] = {}): Response => ({
  description,
  headers: own,
  content: { [type]: { schema: { type: 'string', format: 'binary' } } },
})

function live(
  operationId: string,
  summary: string,
  type: string,
  description: string,
  furtherRefusals: readonly Parameters<typeof refuse>[number][] = [],
): PathItem {
  const operation: Operation = {
    operationId,
    tags: ['Live media'],
    summary,
    description,
    parameters: [cameraId, token],
    responses: { 200: answer(summary, type), ...refuse(...furtherRefusals, 403, 404, 503) },
    security: [],
  }
  return { get: operation }
}

const forTwoHours = 'The URL is valid for two hours. A stream that is open by then continues.'
const tsType = 'video/mp2t'

const segment: Parameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'File name from the playlist.',
  schema: { type: 'string' },
  example: '1700000000.m4s',
}

const file: Parameter = { ...segment, name: 'file', example: '1.mp4' }

const range: Parameter = {
  name: 'Range',
  in: 'header',
  required: false,
  description: 'A single byte range (RFC 9110 section 14).',
  schema: { type: 'string' },
  example: 'bytes=0-1023',
}

const contentRange = {
  'Content-Range': { description: 'The byte range of the response.', required: true, schema: { type: 'string' } },
} as const

const optional = (
  name: string,
  description: string,
  schema: Parameter['schema'],
  example: string | number,
): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
  example,
})

const control = (
  operationId: string,
  summary: string,
  requestBody?: RequestBody,
  parameters: readonly Parameter[] = [],
): PathItem => ({
  post: {
    operationId,
    tags: ['Recorded media'],
    summary,
    parameters: [streamId, ...parameters],
    ...(requestBody && { requestBody }),
    responses: {
      204: { description: 'The request succeeded. The response is empty.' },
      ...(requestBody ? refuse(400, 404, 413, 415, 429, 503) : refuse(404, 413, 429, 503)),
    },
    security: [],
  },
})

const speed: Parameter['schema'] = {
  type: 'number',
  enum: [...streamSpeeds],
  description: 'Playback speed; 1 is real time.',
}

const speedBody: RequestBody = {
  description:
    'The entries after the last one fetched are replaced by entries at this speed, after a discontinuity. A player that keeps the playlist in memory must reload it and start at its first entry. Above speed 1, the entries contain only key frames and no audio, so that the bit rate does not increase; within an entry, the wall clock runs faster by that factor. For slow motion, use the playback rate of the player.',
  required: false,
  content: { 'application/json': { schema: { type: 'object', properties: { speed } }, example: { speed: 4 } } },
}

export const mediaPaths: { readonly [path: string]: PathItem } = {
  '/media/cameras/{camera_id}/live.mjpeg': live(
    'getLiveMjpeg',
    'Watch as MJPEG',
    'multipart/x-mixed-replace',
    `Sends a JPEG for each key frame, at the rate and size that were requested with the camera. ${forTwoHours}`,
  ),
  '/media/cameras/{camera_id}/live.mp4': live(
    'getLiveMp4',
    'Watch as fragmented MP4',
    'video/mp4',
    `For a \`<video>\` element or a media player. ${forTwoHours}`,
  ),
  '/media/cameras/{camera_id}/live.ts': live('getLiveTs', 'Watch as MPEG-TS', tsType, forTwoHours),
  '/media/cameras/{camera_id}/live.m3u8': live(
    'getLivePlaylist',
    'Get the live HLS playlist',
    'application/vnd.apple.mpegurl',
    `Players reload it regularly. With \`_HLS_msn\` and \`_HLS_part\` (RFC 8216bis), the response is held until the playlist has that segment or part; what is too far ahead is refused with 400. ${forTwoHours}`,
    [400],
  ),
  '/media/cameras/{camera_id}/hls/{name}': {
    get: {
      ...live(
        'getLiveSegment',
        'Get a segment or part of the live HLS playlist',
        'video/mp4',
        'Segments are deleted some time after they leave the playlist. The response for the part that comes next is held until it exists.',
      ).get!,
      parameters: [cameraId, segment, token],
    },
  },
  '/media/cameras/{camera_id}/live.jpg': live(
    'getLiveSnapshot',
    'Get a live image',
    'image/jpeg',
    `Returns the newest key frame in the size that was requested with the camera. ${forTwoHours}`,
  ),
  '/media/cameras/{camera_id}/snapshot.jpg': live(
    'getSnapshot',
    'Get the latest saved image',
    'image/jpeg',
    `Available even while the camera is offline. ${forTwoHours}`,
  ),
  '/media/cameras/{camera_id}/recorded.jpg': {
    get: {
      operationId: 'getRecordedPicture',
      tags: ['Recorded media'],
      summary: 'Get a recorded image',
      description: `Returns the latest key frame at or up to 10 seconds before the time, in the size that was requested with the URL. ${forTwoHours}`,
      parameters: [
        cameraId,
        token,
        {
          name: 'at',
          in: 'query',
          required: true,
          description: 'The time. Append this parameter to the URL.',
          schema: { type: 'string', format: 'date-time' },
          example: '2026-05-01T00:03:12Z',
        },
      ],
      responses: { 200: answer('The image.', 'image/jpeg'), ...refuse(400, 403, 404, 503) },
      security: [],
    },
  },
  '/recording/streams/{stream_id}/hls/playlist.m3u8': {
    get: {
      operationId: 'getRecordedPlaylist',
      tags: ['Recorded media'],
      summary: 'Get the HLS playlist',
      description:
        'For a range of up to 25 hours, the playlist lists all footage. For a longer range, or one without an end, it grows while it is played: it lists at most about one hour ahead of the last fetched entry and drops entries that are more than two hours behind it. To seek further, create another stream. A stream without an end continues with live footage while the camera records.',
      parameters: [streamId],
      responses: { 200: answer('The playlist.', 'application/vnd.apple.mpegurl'), ...refuse(404, 429, 503) },
      security: [],
    },
  },
  '/recording/streams/{stream_id}/hls/{file}': {
    get: {
      operationId: 'getRecordedFile',
      tags: ['Recorded media'],
      summary: 'Get a file of the playlist',
      parameters: [streamId, file, range],
      responses: {
        200: answer('The file.', 'video/mp4'),
        206: answer('The range.', 'video/mp4', contentRange),
        ...refuse(404, 416, 429, 503),
      },
      security: [],
    },
  },
  '/recording/streams/{stream_id}/download.mp4': {
    get: {
      operationId: 'getRecordedDownload',
      tags: ['Recorded media'],
      summary: 'Download the time range as one file',
      description:
        'Returns the same bytes every time, so an interrupted download can be resumed with `Range` and `If-Range`.',
      parameters: [
        streamId,
        optional('filename', 'Name of the downloaded file.', { type: 'string', maxLength: 200 }, 'front-door.mp4'),
        optional(
          'gaps',
          '`skip` (default) leaves gaps out; `keep` shows the last frame for the duration of the gap.',
          { type: 'string', enum: ['skip', 'keep'] },
          'skip',
        ),
        range,
      ],
      responses: {
        200: answer('The file.', 'video/mp4'),
        206: answer('The range of bytes.', 'video/mp4', contentRange),
        304: notModified,
        ...refuse(400, 404, 416, 429, 503),
      },
      security: [],
    },
  },
  '/recording/streams/{stream_id}/play/': control('playStream', 'Play the stream'),
  '/recording/streams/{stream_id}/pause/': control('pauseStream', 'Pause the stream'),
  '/recording/streams/{stream_id}/speed/': control('setStreamSpeed', 'Set the playback speed', speedBody, [
    optional('speed', 'Playback speed, instead of a body.', speed, 4),
  ]),
}
