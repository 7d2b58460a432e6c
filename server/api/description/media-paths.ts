// Live and recorded media as the description shows them: their addresses come whole from other answers, so what is said
// here is what they answer.

import { streamSpeeds } from '../../../contract/recording.ts'
import type { Operation, Parameter, PathItem, RequestBody, Response } from './openapi.ts'
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
  description: 'Signed; part of the address that the camera was answered with. Other parameters are ignored.',
  schema: { type: 'string' },
  example: 'AgEBaF3k4AEMBwk',
}

const streamId: Parameter = {
  name: 'stream_id',
  in: 'path',
  required: true,
  description: 'What nobody can guess: whoever has it may play the stream.',
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

function live(operationId: string, summary: string, type: string, description: string): PathItem {
  const operation: Operation = {
    operationId,
    tags: ['Live media'],
    summary,
    description,
    parameters: [cameraId, token],
    responses: { 200: answer(summary, type), ...refuse(403, 404, 503) },
    security: [],
  }
  return { get: operation }
}

const forTwoHours = 'The address is good for two hours; what is open by then goes on.'
const tsType = 'video/mp2t'

const segment: Parameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'As in the playlist.',
  schema: { type: 'string' },
  example: '1700000000.m4s',
}

const file: Parameter = { ...segment, name: 'file', example: '1.mp4' }

const range: Parameter = {
  name: 'Range',
  in: 'header',
  required: false,
  description: 'One range of bytes (RFC 9110 section 14).',
  schema: { type: 'string' },
  example: 'bytes=0-1023',
}

const contentRange = {
  'Content-Range': { description: 'Which bytes these are.', required: true, schema: { type: 'string' } },
} as const

const pictureParameter = (
  name: string,
  required: boolean,
  schema: Parameter['schema'],
  example: string | number,
): Parameter => ({
  name,
  in: 'query',
  required,
  description: required ? 'The moment. Appended to the address.' : 'In pixels; nothing is enlarged.',
  schema,
  example,
})

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
      204: { description: 'Done; the answer is empty.' },
      ...(requestBody ? refuse(400, 404, 413, 415, 429, 503) : refuse(404, 413, 429, 503)),
    },
    security: [],
  },
})

const speed: Parameter['schema'] = {
  type: 'number',
  enum: [...streamSpeeds],
  description: '1 plays the footage as it was recorded.',
}

const speedBody: RequestBody = {
  description:
    'What follows the last entry that was fetched is listed anew at this speed, behind a discontinuity, and what was listed beyond it leaves the playlist: a player that holds the playlist in memory loads it anew and begins at its first entry. Above 1 the entries are key frames alone, so many that the bit rate does not grow, without audio; within an entry the wall clock runs so many times faster. Slow motion is made by the player.',
  required: false,
  content: { 'application/json': { schema: { type: 'object', properties: { speed } }, example: { speed: 4 } } },
}

export const mediaPaths: { readonly [path: string]: PathItem } = {
  '/media/cameras/{camera_id}/live.mjpeg': live(
    'getLiveMjpeg',
    'Watch as MJPEG',
    'multipart/x-mixed-replace',
    `A JPEG for each key frame, as rare and as small as the camera was asked for with. ${forTwoHours}`,
  ),
  '/media/cameras/{camera_id}/live.mp4': live(
    'getLiveMp4',
    'Watch as fragmented MP4',
    'video/mp4',
    `For a \`<video>\` or a player. ${forTwoHours}`,
  ),
  '/media/cameras/{camera_id}/live.ts': live('getLiveTs', 'Watch as MPEG-TS', tsType, forTwoHours),
  '/media/cameras/{camera_id}/live.m3u8': live(
    'getLivePlaylist',
    'Get the live HLS playlist',
    'application/vnd.apple.mpegurl',
    `Players ask for it again and again. ${forTwoHours}`,
  ),
  '/media/cameras/{camera_id}/hls/{name}': {
    get: {
      ...live(
        'getLiveSegment',
        'Get a segment of the live HLS playlist',
        'video/mp4',
        'Gone a while after it left the playlist.',
      ).get!,
      parameters: [cameraId, segment, token],
    },
  },
  '/media/cameras/{camera_id}/live.jpg': live(
    'getLiveSnapshot',
    'Get a live picture',
    'image/jpeg',
    `As small as the camera was asked for with. ${forTwoHours}`,
  ),
  '/media/cameras/{camera_id}/snapshot.jpg': live(
    'getSnapshot',
    'Get the latest saved picture',
    'image/jpeg',
    `Also of a camera that is away. ${forTwoHours}`,
  ),
  '/media/cameras/{camera_id}/recorded.jpg': {
    get: {
      operationId: 'getRecordedPicture',
      tags: ['Recorded media'],
      summary: 'Get a recorded picture',
      description: `The newest key frame up to the moment, at most 10 seconds older, as small as the address was asked for with. ${forTwoHours}`,
      parameters: [
        cameraId,
        token,
        pictureParameter('at', true, { type: 'string', format: 'date-time' }, '2026-05-01T00:03:12Z'),
      ],
      responses: { 200: answer('The picture.', 'image/jpeg'), ...refuse(400, 403, 404, 503) },
      security: [],
    },
  },
  '/recording/streams/{stream_id}/hls/playlist.m3u8': {
    get: {
      operationId: 'getRecordedPlaylist',
      tags: ['Recorded media'],
      summary: 'Get the HLS playlist',
      description:
        'Of a range of up to 25 hours it lists all footage. Of a longer one, or without end, it grows with its player: at most about an hour is listed ahead of what has been fetched, and what lies more than two hours behind it leaves the playlist. To jump further, create another stream. Without end it goes on into live while the camera records.',
      parameters: [streamId],
      responses: { 200: answer('The playlist.', 'application/vnd.apple.mpegurl'), ...refuse(404, 429, 503) },
      security: [],
    },
  },
  '/recording/streams/{stream_id}/hls/{file}': {
    get: {
      operationId: 'getRecordedFile',
      tags: ['Recorded media'],
      summary: 'Get footage of the playlist',
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
      description: 'The same bytes each time, so that a download can be resumed with `Range` and `If-Range`.',
      parameters: [
        streamId,
        optional('filename', 'What the file is to be called.', { type: 'string', maxLength: 200 }, 'front-door.mp4'),
        optional(
          'gaps',
          'Whether gaps are left out, as without it, or last with the picture standing still.',
          { type: 'string', enum: ['skip', 'keep'] },
          'skip',
        ),
        range,
      ],
      responses: {
        200: answer('The file.', 'video/mp4'),
        206: answer('The range of bytes.', 'video/mp4', contentRange),
        ...refuse(400, 404, 416, 429, 503),
      },
      security: [],
    },
  },
  '/recording/streams/{stream_id}/play/': control('playStream', 'Play the stream'),
  '/recording/streams/{stream_id}/pause/': control('pauseStream', 'Pause the stream'),
  '/recording/streams/{stream_id}/speed/': control('setStreamSpeed', 'Set the playback speed', speedBody, [
    optional('speed', 'In place of a body.', speed, 4),
  ]),
}
