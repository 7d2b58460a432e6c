// Descriptions and examples for guests and events.

import type { Endpoints } from '../endpoints.ts'
import type { OperationText } from './operation-text.ts'
import { pageOf, sampleEvent, sampleGuest } from './samples.ts'

type GuestNames = 'listGuests' | 'createGuest' | 'getGuest' | 'updateGuest' | 'deleteGuest' | 'createGuestLink'
type EventNames = 'listEvents' | 'createEvent' | 'listCameraEvents'

const newestFirst =
  'Events are sorted by `occurred_at`, newest first. `start` must be before `end`. The server itself creates events of the source `system` in the categories `camera_offline`, `camera_online`, `recording_gap`, `recording_error`, `camera_clock`, `packet_loss` and `clock_set`.'
const notThere = 'The caller has no camera with this `id`, or the camera has no such guest.'

export const sharingTexts: { readonly [Name in GuestNames | EventNames]: OperationText<Endpoints[Name]> } = {
  listGuests: {
    tag: 'Guests',
    description: 'The list includes guests who have not accepted their invitation yet.',
    answer: pageOf(sampleGuest),
  },
  createGuest: {
    tag: 'Guests',
    description:
      'A person with an account is notified by email and sees the camera in their shared cameras immediately. Anyone else receives a link to create an account; the link works once, within 7 days. Permissions that the body omits are not granted. The response is 400 if the address already belongs to a guest of the camera (case is ignored) or to the caller.',
    bodies: {
      'Live view and recordings': { email: 'grace@example.com', permissions: { can_view_rec: true } },
      'Live view only': { email: 'grace@example.com' },
    },
    answer: { ...sampleGuest, first_name: null, last_name: null },
    refusals: {
      429: 'Too many requests, or too many invitations to people who are not guests of the caller yet: at most three a day for an address, and twenty an hour.',
    },
  },
  getGuest: {
    tag: 'Guests',
    description: 'Names are null until the guest has viewed the camera for the first time.',
    answer: sampleGuest,
    refusals: { 404: notThere },
  },
  updateGuest: {
    tag: 'Guests',
    description: 'Permissions that the body omits keep their values. The email address cannot be changed.',
    bodies: { 'Withdraw access to recordings': { permissions: { can_view_rec: false } } },
    answer: { ...sampleGuest, permissions: { can_view_rec: false, share_notifications: false } },
    refusals: { 404: notThere },
  },
  deleteGuest: {
    tag: 'Guests',
    description: 'The guest’s requests and media URLs are refused immediately; open streams end within 5 seconds.',
    refusals: { 404: notThere },
  },
  createGuestLink: {
    tag: 'Guests',
    description:
      'For owners of the server, to pass the invitation on in another way than by email. Earlier links stay valid.',
    answer: { link: 'https://cameras.example.com/invitation/?token=2n5Zk0cVx8bW4mQeJr1tYp7uHs9dLaGf6oXi3vBzNqE' },
    refusals: {
      403: 'The caller is not an owner of the server.',
      404: notThere,
      409: 'The guest has an account and needs no link, or only owners of the server create accounts.',
    },
  },
  listEvents: { tag: 'Events', description: newestFirst, answer: pageOf(sampleEvent) },
  createEvent: {
    tag: 'Events',
    description:
      'Send either an Authorization header and the `camera`, or no Authorization header and the `hash`. The `hash` is the `event_api_hash` of a camera. It serves as the credential for devices that cannot store another one, and allows 10 requests a minute.',
    bodies: {
      'With a token': { camera: 12, title: 'Door bell', category: 'doorbell', data: { button: 'left' } },
      'From a device, with the camera’s hash': {
        hash: '4f1c0d7a9be24c6f8d3e5a7b9c1d2e3f',
        title: 'Motion',
        category: 'motion',
      },
    },
    answer: sampleEvent,
    refusals: {
      404: 'The caller has no camera with this `id`.',
      429: 'Too many requests, or more than 10 requests a minute with this hash.',
    },
  },
  listCameraEvents: { tag: 'Events', description: newestFirst, answer: pageOf(sampleEvent) },
}
