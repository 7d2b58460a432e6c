// The whole interface as one table: first the twenty operations in the order of the interface document, then our extensions.

import { accountEndpoints } from './account-endpoints.ts'
import { Camera, CameraChange, CameraListQuery, CameraPath, CameraQuery, NewCamera, SharedCamera } from './camera.ts'
import { type Endpoint, endpoint } from './endpoint.ts'
import { Event, EventQuery, NewEvent } from './event.ts'
import { Guest, GuestChange, GuestPath, NewGuest } from './guest.ts'
import { PageQuery, page } from './page.ts'
import {
  NewRecording,
  RecordedStream,
  Recording,
  RecordingChange,
  StreamInfo,
  StreamPath,
  StreamQuery,
  Timeline,
  TimelineQuery,
} from './recording.ts'
import { Nothing } from './schema.ts'
import { storageEndpoints } from './storage.ts'
import { User } from './user.ts'

const reads = (or?: string) => ({ all: ['read'], ...(or && { or }) }) as const
const changes = (or?: string) => ({ all: ['read', 'write'], ...(or && { or }) }) as const

export const endpoints = {
  getMe: endpoint({
    method: 'GET',
    path: '/v1/me/',
    summary: 'The current user.',
    access: reads(),
    status: 200,
    result: User,
  }),
  listCameras: endpoint({
    method: 'GET',
    path: '/v1/cameras/',
    summary: 'Cameras of the current user.',
    access: reads('camera_access'),
    query: CameraListQuery,
    status: 200,
    result: page(Camera),
  }),
  getCamera: endpoint({
    method: 'GET',
    path: '/v1/cameras/{camera_id}/',
    summary: 'One camera of the current user.',
    access: reads('camera_access'),
    params: CameraPath,
    query: CameraQuery,
    status: 200,
    result: Camera,
  }),
  listSharedCameras: endpoint({
    method: 'GET',
    path: '/v1/shared-cameras/',
    summary: 'Cameras others share with the current user.',
    access: reads('camera_access'),
    query: CameraListQuery,
    status: 200,
    result: page(SharedCamera),
  }),
  getSharedCamera: endpoint({
    method: 'GET',
    path: '/v1/shared-cameras/{camera_id}/',
    summary: 'One shared camera.',
    access: reads('camera_access'),
    params: CameraPath,
    query: CameraQuery,
    status: 200,
    result: SharedCamera,
  }),
  getStreamInfo: endpoint({
    method: 'GET',
    path: '/v1/recording/stream/{streamer_name}/{streamer_id}/',
    summary: 'Where a recorded stream is being played.',
    access: reads('recording_access'),
    params: StreamPath,
    status: 200,
    result: StreamInfo,
  }),
  getRecording: endpoint({
    method: 'GET',
    path: '/v1/cameras/{camera_id}/recording/',
    summary: 'General recording information.',
    access: reads('recording_access'),
    params: CameraPath,
    status: 200,
    result: Recording,
  }),
  getTimeline: endpoint({
    method: 'GET',
    path: '/v1/cameras/{camera_id}/recording/timeline/',
    summary: 'When there is footage.',
    access: reads('recording_access'),
    params: CameraPath,
    query: TimelineQuery,
    status: 200,
    result: Timeline,
  }),
  createStream: endpoint({
    method: 'GET',
    path: '/v1/cameras/{camera_id}/recording/stream/',
    summary: 'Creates and returns a recorded stream of a time range.',
    access: reads('recording_access'),
    params: CameraPath,
    query: StreamQuery,
    status: 200,
    result: RecordedStream,
  }),
  getSharedRecording: endpoint({
    method: 'GET',
    path: '/v1/shared-cameras/{camera_id}/recording/',
    summary: 'General recording information of a shared camera.',
    access: reads('recording_access'),
    params: CameraPath,
    status: 200,
    result: Recording,
  }),
  getSharedTimeline: endpoint({
    method: 'GET',
    path: '/v1/shared-cameras/{camera_id}/recording/timeline/',
    summary: 'When there is footage of a shared camera.',
    access: reads('recording_access'),
    params: CameraPath,
    query: TimelineQuery,
    status: 200,
    result: Timeline,
  }),
  createSharedStream: endpoint({
    method: 'GET',
    path: '/v1/shared-cameras/{camera_id}/recording/stream/',
    summary: 'Creates and returns a recorded stream of a shared camera.',
    access: reads('recording_access'),
    params: CameraPath,
    query: StreamQuery,
    status: 200,
    result: RecordedStream,
  }),
  listGuests: endpoint({
    method: 'GET',
    path: '/v1/cameras/{camera_id}/guests/',
    summary: 'Guests of a camera.',
    access: reads('camera_guest_access'),
    params: CameraPath,
    query: PageQuery,
    status: 200,
    result: page(Guest),
  }),
  createGuest: endpoint({
    method: 'POST',
    path: '/v1/cameras/{camera_id}/guests/',
    summary: 'Invites a guest.',
    access: changes('camera_guest_manage'),
    params: CameraPath,
    body: NewGuest,
    status: 201,
    result: Guest,
  }),
  getGuest: endpoint({
    method: 'GET',
    path: '/v1/cameras/{camera_id}/guests/{guest_id}/',
    summary: 'One guest.',
    access: reads('camera_guest_access'),
    params: GuestPath,
    status: 200,
    result: Guest,
  }),
  updateGuest: endpoint({
    method: 'PUT',
    path: '/v1/cameras/{camera_id}/guests/{guest_id}/',
    summary: 'Changes what a guest may do.',
    access: changes('camera_guest_manage'),
    params: GuestPath,
    body: GuestChange,
    status: 200,
    result: Guest,
  }),
  deleteGuest: endpoint({
    method: 'DELETE',
    path: '/v1/cameras/{camera_id}/guests/{guest_id}/',
    summary: 'Removes a guest.',
    access: changes('camera_guest_manage'),
    params: GuestPath,
    status: 204,
    result: Nothing,
  }),
  listEvents: endpoint({
    method: 'GET',
    path: '/v1/events/',
    summary: 'Events of all cameras of the current user.',
    access: reads('event_access'),
    query: EventQuery,
    status: 200,
    result: page(Event),
  }),
  createEvent: endpoint({
    method: 'POST',
    path: '/v1/events/',
    summary: 'Creates an event.',
    access: changes('event_manage'),
    hasBodyCredential: true,
    body: NewEvent,
    status: 201,
    result: Event,
  }),
  listCameraEvents: endpoint({
    method: 'GET',
    path: '/v1/events/{camera_id}/',
    summary: 'Events of one camera.',
    access: reads('event_access'),
    params: CameraPath,
    query: EventQuery,
    status: 200,
    result: page(Event),
  }),

  createCamera: endpoint({
    method: 'POST',
    path: '/v1/cameras/',
    summary: 'Adds a camera.',
    access: changes('camera_create'),
    body: NewCamera,
    status: 201,
    result: Camera,
    isExtension: true,
  }),
  updateCamera: endpoint({
    method: 'PUT',
    path: '/v1/cameras/{camera_id}/',
    summary: 'Changes a camera.',
    access: changes('camera_manage'),
    params: CameraPath,
    body: CameraChange,
    status: 200,
    result: Camera,
    isExtension: true,
  }),
  deleteCamera: endpoint({
    method: 'DELETE',
    path: '/v1/cameras/{camera_id}/',
    summary: 'Removes a camera and its footage.',
    access: changes('camera_delete'),
    params: CameraPath,
    status: 204,
    result: Nothing,
    isExtension: true,
  }),
  rotateEventHash: endpoint({
    method: 'POST',
    path: '/v1/cameras/{camera_id}/event-hash/',
    summary: 'Gives the camera a new `event_api_hash`.',
    access: changes('camera_manage'),
    params: CameraPath,
    status: 200,
    result: Camera,
    isExtension: true,
  }),
  enableRecording: endpoint({
    method: 'POST',
    path: '/v1/cameras/{camera_id}/recording/',
    summary: 'Turns recording on.',
    access: changes('recording_manage'),
    params: CameraPath,
    body: NewRecording,
    status: 201,
    result: Recording,
    isExtension: true,
  }),
  updateRecording: endpoint({
    method: 'PUT',
    path: '/v1/cameras/{camera_id}/recording/',
    summary: 'Changes how long footage is kept.',
    access: changes('recording_manage'),
    params: CameraPath,
    body: RecordingChange,
    status: 200,
    result: Recording,
    isExtension: true,
  }),
  disableRecording: endpoint({
    method: 'DELETE',
    path: '/v1/cameras/{camera_id}/recording/',
    summary: 'Turns recording off.',
    access: changes('recording_manage'),
    params: CameraPath,
    status: 204,
    result: Nothing,
    isExtension: true,
  }),

  ...storageEndpoints,
  ...accountEndpoints,
} satisfies Record<string, Endpoint>

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

/** The endpoints a server answers today. */
export type BuiltName = {
  [Name in EndpointName]: Endpoints[Name] extends { isPlanned: true } ? never : Name
}[EndpointName]

export function isBuilt(name: EndpointName): name is BuiltName {
  return !('isPlanned' in endpoints[name])
}

export const builtNames: readonly BuiltName[] = (Object.keys(endpoints) as EndpointName[]).filter(isBuilt)
