// People invited to watch one's cameras.

import type { Body, Call, CallOptions, Query } from '../call.ts'
import { iteratePages } from '../pages.ts'

type List = Query<'listGuests'>

export type Guests = ReturnType<typeof createGuests>

export const createGuests = (call: Call) => ({
  /** Lists one page of the guests of a camera. */
  list: (cameraId: number, query: List = {}, options?: CallOptions) =>
    call('listGuests', { params: { camera_id: cameraId }, query }, options),
  /** Iterates over the guests of a camera and requests further pages as needed. */
  listAll: (cameraId: number, query: List = {}, options?: CallOptions) =>
    iteratePages((page: List) => call('listGuests', { params: { camera_id: cameraId }, query: page }, options), query),
  /** Invites a guest by email. */
  create: (cameraId: number, body: Body<'createGuest'>, options?: CallOptions) =>
    call('createGuest', { params: { camera_id: cameraId }, body }, options),
  get: (cameraId: number, guestId: number, options?: CallOptions) =>
    call('getGuest', { params: { camera_id: cameraId, guest_id: guestId } }, options),
  /** Updates the permissions that the body contains. */
  update: (cameraId: number, guestId: number, body: Body<'updateGuest'>, options?: CallOptions) =>
    call('updateGuest', { params: { camera_id: cameraId, guest_id: guestId }, body }, options),
  /** Creates a link with which a guest without an account accepts the invitation; for owners of the server. */
  createLink: (cameraId: number, guestId: number, options?: CallOptions) =>
    call('createGuestLink', { params: { camera_id: cameraId, guest_id: guestId } }, options),
  delete: (cameraId: number, guestId: number, options?: CallOptions) =>
    call('deleteGuest', { params: { camera_id: cameraId, guest_id: guestId } }, options),
})
