// Extensions to the interface document: images of recorded moments, and downloads.

import { CameraPath } from './camera.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { Download, DownloadQuery, RecordedImages, RecordedImagesQuery } from './recording.ts'

const access = { all: ['read'], or: 'recording_access' } as const

export const footageEndpoints = {
  getPictures: endpoint({
    method: 'GET',
    path: '/v1/cameras/{camera_id}/recording/pictures/',
    summary: 'Create a link to recorded images.',
    access,
    params: CameraPath,
    camera: 'own',
    recording: true,
    query: RecordedImagesQuery,
    status: 200,
    result: RecordedImages,
    isExtension: true,
  }),
  getSharedPictures: endpoint({
    method: 'GET',
    path: '/v1/shared-cameras/{camera_id}/recording/pictures/',
    summary: 'Create a link to recorded images of a shared camera.',
    access,
    params: CameraPath,
    camera: 'shared',
    recording: true,
    query: RecordedImagesQuery,
    status: 200,
    result: RecordedImages,
    isExtension: true,
  }),
  createDownload: endpoint({
    method: 'GET',
    path: '/v1/cameras/{camera_id}/recording/download/',
    summary: 'Create a download link for a time range.',
    access,
    params: CameraPath,
    camera: 'own',
    recording: true,
    query: DownloadQuery,
    status: 200,
    result: Download,
    isExtension: true,
  }),
  createSharedDownload: endpoint({
    method: 'GET',
    path: '/v1/shared-cameras/{camera_id}/recording/download/',
    summary: 'Create a download link for a time range of a shared camera.',
    access,
    params: CameraPath,
    camera: 'shared',
    recording: true,
    query: DownloadQuery,
    status: 200,
    result: Download,
    isExtension: true,
  }),
} satisfies Record<string, Endpoint>
