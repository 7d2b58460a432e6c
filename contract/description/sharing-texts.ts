// Words and examples of guests and events.

import type { Endpoints } from '../endpoints.ts'
import type { OperationText } from './operation-text.ts'
import { pageOf, sampleEvent, sampleGuest } from './samples.ts'

type GuestNames = 'listGuests' | 'createGuest' | 'getGuest' | 'updateGuest' | 'deleteGuest'
type EventNames = 'listEvents' | 'createEvent' | 'listCameraEvents'

const newestFirst =
  'Newest first, by `occurred_at`; `start` must be before `end`. Of source `system` are `camera_offline`, `camera_online`, `recording_gap`, `recording_error`, `camera_clock`, `packet_loss` and `clock_set`, which the server writes by itself.'
const notThere = 'No such camera of the caller, or no such guest of it.'

export const sharingTexts: { readonly [Name in GuestNames | EventNames]: OperationText<Endpoints[Name]> } = {
  listGuests: {
    tag: 'Guests',
    description: 'Also those who have not accepted their invitation yet.',
    answer: pageOf(sampleGuest),
  },
  createGuest: {
    tag: 'Guests',
    description:
      'Somebody with an account is told by e-mail and finds the camera among the shared ones at once. Anybody else gets a link, good once and for 7 days, to make an account. Nothing is allowed that is not named. An address that is a guest of the camera already is 400, upper and lower case being the same, and so is the caller’s own.',
    bodies: {
      'To watch, and to look up recordings': { email: 'grace@example.com', permissions: { can_view_rec: true } },
      'To watch': { email: 'grace@example.com' },
    },
    answer: { ...sampleGuest, first_name: null, last_name: null },
    refusals: {
      429: 'Too many requests, or too many invitations to somebody who is not a guest of the caller yet: three a day to an address, twenty an hour.',
    },
  },
  getGuest: {
    tag: 'Guests',
    description: 'Names are null until the guest has first seen the camera.',
    answer: sampleGuest,
    refusals: { 404: notThere },
  },
  updateGuest: {
    tag: 'Guests',
    description: 'What the body does not name stays; so does the address.',
    bodies: { 'No recordings any more': { permissions: { can_view_rec: false } } },
    answer: { ...sampleGuest, permissions: { can_view_rec: false, share_notifications: false } },
    refusals: { 404: notThere },
  },
  deleteGuest: {
    tag: 'Guests',
    description: 'The guest’s requests and media addresses are refused at once; open streams end within 5 seconds.',
    refusals: { 404: notThere },
  },
  listEvents: { tag: 'Events', description: newestFirst, answer: pageOf(sampleEvent) },
  createEvent: {
    tag: 'Events',
    description:
      'Either with an Authorization header and `camera`, a camera of the caller, or without and with `hash`, the `event_api_hash` of a camera: it is the credential then, for devices that cannot keep another, and good for 10 requests a minute.',
    bodies: {
      'With a token': { camera: 12, title: 'Door bell', category: 'doorbell', data: { button: 'left' } },
      'From a device, by the camera’s hash': {
        hash: '4f1c0d7a9be24c6f8d3e5a7b9c1d2e3f',
        title: 'Motion',
        category: 'motion',
      },
    },
    answer: sampleEvent,
    refusals: {
      404: 'No such camera of the caller.',
      429: 'Too many requests, or more than 10 a minute with this hash.',
    },
  },
  listCameraEvents: { tag: 'Events', description: newestFirst, answer: pageOf(sampleEvent) },
}
