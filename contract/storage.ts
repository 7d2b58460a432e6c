// How much space the footage of a user takes, and what follows from it: an extension. Owners of the server set the limits of users.

import { type Static, Type } from 'typebox'
import { UserPath } from './account.ts'
import { endpoint } from './endpoint.ts'
import { nullable, Timestamp } from './schema.ts'

const usedBytes = Type.Integer({ description: 'Size of the footage, including footage that is being recorded.' })
const bytesPerDay = Type.Integer({ description: 'Bytes recorded in the last 24 hours.' })
const maxBytes = (whose: string) =>
  nullable(Type.Integer({ description: `Size limit of ${whose}; null means no limit.` }))
const fullAt = Type.Union([Timestamp, Type.Null()], {
  description:
    'When, at the current rate, footage will be deleted before its retention ends because of insufficient space; null if never.',
})

export const CameraStorage = Type.Object({
  id: Type.Integer(),
  used_bytes: usedBytes,
  max_bytes: maxBytes('its footage'),
  bytes_per_day: bytesPerDay,
  recording_start: nullable(Timestamp),
  retention_days: nullable(Type.Number({ description: 'Retention in days.' })),
  forecast_days: nullable(
    Type.Number({
      description:
        'How many days back the footage will reach at the current rate; null if the camera is not recorded or has not been recorded long enough.',
    }),
  ),
})

export const FileRepair = Type.Object({
  pending_files: Type.Integer({ description: 'Number of files that are waiting to be repaired.' }),
  repaired_files: Type.Integer({ description: 'Number of files repaired since the server started.' }),
  failed_files: Type.Integer({
    description: 'Number of files that could not be read or written. The server tries them again.',
  }),
})

export const PlaceStorage = Type.Object({
  id: Type.Integer(),
  folder: Type.String(),
  state: Type.Union(
    [
      Type.Literal('ready'),
      Type.Literal('away'),
      Type.Literal('foreign'),
      Type.Literal('read_only'),
      Type.Literal('silent'),
      Type.Literal('refused'),
    ],
    {
      description:
        '`away`: the disk is not mounted. `foreign`: the folder belongs to another installation, or is another place. `silent`: the disk does not respond. `refused`: the store of a bucket refuses requests.',
    },
  ),
  state_detail: nullable(Type.String({ description: 'What is wrong, and what to do about it.' })),
  weight: Type.Number({ description: 'New recordings are spread over the places in proportion to their weights.' }),
  is_draining: Type.Boolean({ description: 'No new recordings are stored in this place.' }),
  used_bytes: usedBytes,
  disk_bytes: nullable(Type.Integer({ description: 'Size of the disk; null if it is not there.' })),
  disk_free_bytes: nullable(Type.Integer()),
  min_free_bytes: nullable(Type.Integer({ description: 'Space that is always kept free.' })),
  full_at: fullAt,
})

export const ServerStorage = Type.Object({
  used_bytes: usedBytes,
  max_bytes: maxBytes('all footage'),
  bytes_per_day: bytesPerDay,
  disk_bytes: nullable(
    Type.Integer({ description: 'Size of the disk; null if it does not respond or is not mounted.' }),
  ),
  disk_free_bytes: nullable(Type.Integer()),
  min_free_bytes: nullable(Type.Integer({ description: 'Space that is always kept free.' })),
  full_at: fullAt,
  places: Type.Array(Type.Object({ ...PlaceStorage.properties }), {
    description: 'Places of recordings. Each is a folder, usually on its own disk.',
  }),
  clock_doubt: nullable(
    Type.Object(
      {
        ahead_seconds: Type.Integer({
          description: 'How far the clock has moved beyond the time that the server was running.',
        }),
        remaining_seconds: Type.Integer({
          description: 'How much longer the server must run before it trusts the clock.',
        }),
      },
      {
        description:
          'Present for 24 hours after the clock of the server moved forward by more than ten minutes, because the server was off or the clock was set: footage that is too old only because of this is kept meanwhile. Null otherwise.',
      },
    ),
  ),
  repair: nullable(
    Type.Object(
      { ...FileRepair.properties },
      {
        description:
          'Repair of files that were open when the server, or a part of it, ended unexpectedly; null when none is left.',
      },
    ),
  ),
})

export const Storage = Type.Object({
  used_bytes: usedBytes,
  max_bytes: maxBytes('the footage of all cameras of the user together'),
  share_bytes: nullable(
    Type.Integer({
      description:
        'What the footage of a user who does not own the server may have when there is no room for more: the limit, or a tenth of the space for all footage. What is beyond it is deleted first. Null for owners of the server, and while the disk does not respond.',
    }),
  ),
  bytes_per_day: bytesPerDay,
  full_at: fullAt,
  cameras: Type.Array(CameraStorage, { description: 'Cameras of the user that have footage or are recorded.' }),
  server: nullable(
    Type.Object(
      { ...ServerStorage.properties },
      { description: 'Storage of all users together. For owners of the server; otherwise null.' },
    ),
  ),
})

export type Storage = Static<typeof Storage>

export const StorageChange = Type.Object({
  max_bytes: nullable(
    Type.Integer({ minimum: 1024 * 1024, maximum: Number.MAX_SAFE_INTEGER, description: 'Null means no limit.' }),
  ),
})

export type StorageChange = Static<typeof StorageChange>

const forOwners = { access: { all: ['account_manage'] }, isExtension: true } as const

export const storageEndpoints = {
  getStorage: endpoint({
    method: 'GET',
    path: '/v1/me/storage/',
    summary: 'Get storage usage.',
    access: { all: ['read'], or: 'recording_access' },
    status: 200,
    result: Storage,
    isExtension: true,
  }),
  getUserStorage: endpoint({
    method: 'GET',
    path: '/v1/users/{user_id}/storage/',
    summary: 'Get storage usage of a user (owners only).',
    params: UserPath,
    status: 200,
    result: Storage,
    ...forOwners,
  }),
  updateUserStorage: endpoint({
    method: 'PUT',
    path: '/v1/users/{user_id}/storage/',
    summary: 'Set the storage limit of a user (owners only).',
    params: UserPath,
    body: StorageChange,
    status: 200,
    result: Storage,
    ...forOwners,
  }),
}
