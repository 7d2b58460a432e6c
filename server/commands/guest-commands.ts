// nightjar guest …: guests who may watch a camera besides its owner.

import { writeGuest } from '../api/answers/guest.ts'
import { AppError } from '../base/error.ts'
import type { Config } from '../config.ts'
import { outboxOf } from '../mail-delivery.ts'
import { writeTime } from '../model/time.ts'
import type { Guest } from '../store/cameras/guests.ts'
import type { Store } from '../store/store.ts'
import { readChoice } from './choice.ts'
import { type Command, type CommandOptions, UsageError } from './command.ts'
import { serverOptions } from './help.ts'
import { parseId } from './names.ts'
import { withStore } from './open-data.ts'
import { writeTable } from './table.ts'
import { type MailOutcome, publicUrlOf, withGuestService } from './with-guest-service.ts'

const ofCamera: CommandOptions = {
  camera: { placeholder: 'CAMERA_ID', description: 'Id of the camera.', isRequired: true },
}

/** Options that mails depend on, for servers that get them on their own command line. */
const mailOptions: CommandOptions = Object.fromEntries(
  ['public-url', 'port', 'smtp-url', 'mail-from', 'sign-up'].map((name) => [name, serverOptions[name]!]),
)

const guestList: Command = {
  name: 'guest list',
  summary: 'List the guests of a camera.',
  positionals: [],
  options: ofCamera,
  run: ({ config, options }) =>
    withStore(config, async (store) => {
      const { id } = await getCamera(store, options.camera!)
      const guests = await store.guests.listByCamera(id, { limit: 1_000_000, offset: 0 })
      const rows = guests.map((guest) => [
        String(guest.id),
        guest.email,
        guest.canViewRecordings ? 'yes' : 'no',
        guest.sharesNotifications ? 'yes' : 'no',
        describeState(guest),
      ])
      const titles = ['ID', 'EMAIL', 'RECORDINGS', 'NOTIFICATIONS', 'STATE']
      return {
        json: { guests: guests.map(writeKnownGuest) },
        text: writeTable(titles, rows, 'The camera has no guests.'),
      }
    }),
}

const guestAdd: Command = {
  name: 'guest add',
  summary: 'Invite a guest to a camera by email.',
  positionals: [],
  options: {
    ...ofCamera,
    email: { placeholder: 'EMAIL', description: 'Email address of the guest.', isRequired: true },
    recordings: { description: 'The guest may also watch recordings.' },
    notifications: { description: 'The guest is notified of events.' },
    ...mailOptions,
  },
  run: ({ config, options, switches }) =>
    withStore(config, async (store) => {
      const camera = await getCamera(store, options.camera!)
      const permissions = {
        canViewRecordings: switches.has('recordings'),
        sharesNotifications: switches.has('notifications'),
      }
      const { result: guest, mail } = await withGuestService(store, config, (service) =>
        service.invite({ camera, email: options.email!, ...permissions, isOperator: true }),
      )
      const isFailure = typeof mail === 'object'
      return {
        json: { ...writeKnownGuest(guest), mail: isFailure ? 'failed' : mail },
        text: `${guest.email} is guest ${guest.id} of camera ${camera.id}, ${camera.name}. ${describeMail(mail, guest, config)}`,
        isFailure,
      }
    }),
}

const guestSet: Command = {
  name: 'guest set',
  summary: 'Change the permissions of a guest.',
  positionals: ['GUEST'],
  options: {
    ...ofCamera,
    recordings: { placeholder: 'YES|NO', description: 'Whether the guest may watch recordings.' },
    notifications: { placeholder: 'YES|NO', description: 'Whether the guest is notified of events.' },
  },
  run: ({ config, options, positionals }) => {
    const canViewRecordings = readChoice('recordings', options.recordings)
    const sharesNotifications = readChoice('notifications', options.notifications)
    const change = {
      ...(canViewRecordings !== undefined && { canViewRecordings }),
      ...(sharesNotifications !== undefined && { sharesNotifications }),
    }
    if (Object.keys(change).length === 0) throw new UsageError('specify --recordings or --notifications', guestSet)
    return withStore(config, async (store) => {
      const found = await getGuest(store, options.camera!, positionals[0]!)
      const { result: guest } = await withGuestService(store, config, (service) => service.change({ ...found, change }))
      const may = guest.canViewRecordings ? 'may see recordings' : 'may not see recordings'
      const notified = guest.sharesNotifications ? 'is notified of events' : 'is not notified of events'
      return { json: writeKnownGuest(guest), text: `Guest ${guest.id}, ${guest.email}, ${may} and ${notified}.` }
    })
  },
}

const guestLink: Command = {
  name: 'guest link',
  summary: 'Print a new link that a guest without an account can accept the invitation with.',
  positionals: ['GUEST'],
  options: { ...ofCamera, ...mailOptions },
  run: ({ config, options, positionals }) =>
    withStore(config, async (store) => {
      const found = await getGuest(store, options.camera!, positionals[0]!)
      const { result: link } = await withGuestService(store, config, (service) => service.createLink(found))
      return { json: { link }, text: link }
    }),
}

const guestRemove: Command = {
  name: 'guest remove',
  summary: 'Remove a guest. Their open streams end within seconds.',
  positionals: ['GUEST'],
  options: ofCamera,
  run: ({ config, options, positionals }) =>
    withStore(config, async (store) => {
      const { camera, guest } = await getGuest(store, options.camera!, positionals[0]!)
      await withGuestService(store, config, (service) => service.remove({ camera, guest }))
      const text = `Removed guest ${guest.id}, ${guest.email}, of camera ${camera.id}, ${camera.name}.`
      return { json: { id: guest.id, removed: true }, text }
    }),
}

export const guestCommands: readonly Command[] = [guestAdd, guestList, guestLink, guestSet, guestRemove]

const getCamera = (store: Pick<Store, 'cameras'>, text: string) => store.cameras.get(parseId('camera', text))

/** `name`: the guest's email address or id. Throws 'not_found'. */
async function getGuest(store: Pick<Store, 'cameras' | 'guests'>, cameraText: string, name: string) {
  const camera = await getCamera(store, cameraText)
  const byEmail = await store.guests.findByEmail(camera.id, name)
  const guest = byEmail ?? (/^\d{1,15}$/.test(name) ? await store.guests.find(camera.id, Number(name)) : undefined)
  if (!guest) throw new AppError('not_found', `camera ${camera.id} has no guest ${name}`)
  return { camera, guest }
}

/** Includes fields that the operator of the server may see but the owner of a camera may not. */
function writeKnownGuest(guest: Guest) {
  return {
    ...writeGuest(guest),
    camera_id: guest.cameraId,
    user_id: guest.userId,
    created_at: writeTime(guest.createdAtMs),
    opened_at: guest.openedAtMs === null ? null : writeTime(guest.openedAtMs),
  }
}

function describeState({ userId, openedAtMs }: Guest): string {
  if (userId === null) return 'no account yet'
  return openedAtMs === null ? 'not looked yet' : `looking since ${writeTime(openedAtMs)}`
}

function describeMail(mail: MailOutcome, guest: Guest, config: Config): string {
  if (typeof mail === 'object') return `But the mail could not be sent: ${mail.failure}.`
  if (mail === 'none') {
    return config.signUp === 'closed' && guest.userId === null
      ? 'No mail was sent: the share waits until an owner makes an account for the address (sign-up is closed).'
      : 'No mail was sent: there were enough today, or the account is disabled.'
  }
  const url = publicUrlOf(config)
  const isLocal = /^https:\/\/(localhost|127\.[\d.]+|\[::1\])(:|$)/.test(url)
  const where = `It leads to ${url}${isLocal ? ', which works only on this machine: set --public-url to a URL that the guest can open' : ''}.`
  return config.smtpUrl === undefined
    ? `No mail server is configured (smtp-url): the mail is in ${outboxOf(config)}. ${where}`
    : `A mail was sent. ${where}`
}
