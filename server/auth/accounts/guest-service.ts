// Guests of cameras. They are invited by email: with a link to create an account, or with a notice if they have one.
// The inviter cannot tell which.

import { AppError } from '../../base/error.ts'
import { emailKey, parseEmail } from '../../model/email.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Camera } from '../../store/cameras/cameras.ts'
import type { Guest, Permissions } from '../../store/cameras/guests.ts'
import { createLinkToken, hashLinkToken, writeLink } from './account-links.ts'
import type { AccountMails } from './account-mails.ts'
import { type AccountParts, withContext } from './account-parts.ts'
import type { AccountsOptions, By } from './accounts-options.ts'
import type { BackgroundQueue } from './background-queue.ts'
import type { LinkService } from './link-service.ts'

/** A camera of the caller. Callers must verify that. */
type OwnCamera = Pick<Camera, 'id' | 'name' | 'ownerId'>

export type InviteGuestInput = By &
  Partial<Permissions> & {
    readonly camera: OwnCamera
    readonly email: string
    /** True for the operator of the server, who may know which accounts exist. */
    readonly isOperator?: boolean
  }
export type ChangeGuestInput = By & {
  readonly camera: OwnCamera
  readonly guest: Guest
  readonly change: Partial<Permissions>
}
export type RemoveGuestInput = By & { readonly camera: OwnCamera; readonly guest: Guest }

export type LeaveInput = By & { readonly cameraId: number; readonly userId: number }

export type GuestServiceOptions = Pick<AccountsOptions, 'store' | 'audit' | 'randomBytes' | 'publicUrl' | 'signUp'>

export class GuestService {
  readonly #options: GuestServiceOptions
  readonly #links: LinkService
  readonly #mails: AccountMails
  readonly #background: BackgroundQueue

  constructor({
    options,
    links,
    mails,
    background,
  }: Omit<AccountParts, 'options'> & { readonly options: GuestServiceOptions }) {
    this.#options = options
    this.#links = links
    this.#mails = mails
    this.#background = background
  }

  /**
   * Adds a guest on behalf of the camera's owner. Missing permissions are not granted. Throws 'invalid' naming `email`
   * if it is malformed, the owner's own or already a guest, and 'rate_limited' if no email may be sent to a person who
   * is not yet a guest of this owner. People who are guests of another camera of the owner can be added without limit,
   * but not every share sends an email.
   */
  async invite({ camera, email: text, isOperator = false, ...input }: InviteGuestInput): Promise<Guest> {
    const { store, audit } = this.#options
    const { canViewRecordings = false, sharesNotifications = false } = input
    const email = parseEmail(text)
    const owner = await store.users.get(camera.ownerId)
    if (emailKey(email) === emailKey(owner.email)) throw invalidEmail('You cannot invite yourself.')
    if (await store.guests.findByEmail(camera.id, email)) throw isGuestAlready()
    this.#background.check()
    const mailing = { purpose: 'invitation', email, senderId: owner.id } as const
    const isKnown = isOperator || (await store.guests.isGuestOf(owner.id, email))
    if (!isKnown) await this.#links.takeMail(mailing)
    const guest = await this.#insert({ cameraId: camera.id, email, canViewRecordings, sharesNotifications })
    audit.write({ event: 'guest.invited', ...about(camera, guest, input) })
    if (!isKnown || (await this.#links.canMail(mailing))) {
      this.#background.do('an invitation could not be sent', () => this.#sendMail(camera, owner, guest))
    }
    return guest
  }

  /**
   * A new link to accept the invitation with, for the operator of the server, who hands it over instead of a mail: whoever
   * has it can create an account with the guest's address. Earlier links stay valid. Throws 'conflict' if the guest has an
   * account, or only owners can create accounts.
   */
  async createLink({ camera, guest, ...input }: RemoveGuestInput): Promise<string> {
    const { store, audit, signUp } = this.#options
    if (await store.users.findByEmail(guest.email))
      throw new AppError('conflict', `${guest.email} has an account, and sees the camera after signing in`)
    if (signUp === 'closed')
      throw new AppError('conflict', 'sign-up is closed: add an account for this address with "user add"')
    audit.write({ event: 'guest.link_created', ...about(camera, guest, input) })
    return this.#insertLink(camera.id, camera.ownerId, guest)
  }

  /** Throws 'not_found' if the guest no longer exists. */
  async change({ camera, guest, change, ...input }: ChangeGuestInput): Promise<Guest> {
    if (Object.keys(change).length === 0) return guest
    const changed = await this.#options.store.guests.update(camera.id, guest.id, change)
    this.#options.audit.write({ event: 'guest.changed', ...about(camera, changed, input) })
    return changed
  }

  /** Removes the guest, and the invitation if it has not been accepted. */
  async remove({ camera, guest, ...input }: RemoveGuestInput): Promise<void> {
    await this.#options.store.guests.remove(camera.id, guest.id)
    this.#options.audit.write({ event: 'guest.removed', ...about(camera, guest, input) })
  }

  /**
   * Removes the user from the guests of a camera, whatever email addresses they were invited with. Throws 'not_found'
   * if the user is not a guest.
   */
  async leave({ cameraId, userId, ...input }: LeaveInput): Promise<void> {
    const { store, audit } = this.#options
    const [camera, guests] = await Promise.all([
      store.cameras.find(cameraId),
      store.guests.listOfUser(cameraId, userId),
    ])
    if (!camera || guests.length === 0)
      throw new AppError('not_found', `user ${userId} is not a guest of camera ${cameraId}`)
    for (const guest of guests) {
      await store.guests.remove(cameraId, guest.id)
      audit.write({ event: 'guest.left', ...about(camera, guest, input) })
    }
  }

  async #insert(guest: Parameters<GuestServiceOptions['store']['guests']['insert']>[0]): Promise<Guest> {
    try {
      return await this.#options.store.guests.insert(guest)
    } catch (error) {
      throw error instanceof AppError && error.kind === 'conflict' ? isGuestAlready() : error
    }
  }

  async #sendMail({ id: cameraId, name: cameraName }: OwnCamera, owner: User, guest: Guest): Promise<void> {
    const { store, signUp } = this.#options
    const { id: guestId, email } = guest
    const inviter = owner.email
    if (!(await store.guests.find(cameraId, guestId))) return // removed again meanwhile
    const user = await store.users.findByEmail(email)
    if (user) {
      if (user.disabledAtMs === null) await this.#mails.share(user.email, { inviter, cameraName })
      return
    }
    // Only owners can create accounts, so there is nothing that the invited person could do yet.
    if (signUp === 'closed') return
    const link = await this.#insertLink(cameraId, owner.id, guest)
    await this.#mails.guestInvitation(email, { inviter, cameraName, link })
  }

  async #insertLink(cameraId: number, inviterId: number, { id: guestId, email }: Guest): Promise<string> {
    const { randomBytes, publicUrl } = this.#options
    const token = createLinkToken(randomBytes)
    await this.#links.insert('invitation', hashLinkToken(token)!, { email, inviterId, cameraId, guestId })
    return writeLink(publicUrl, 'invitation', token)
  }
}

/** Returns fields of an audit event of the camera's owner. */
function about(camera: OwnCamera, { id, email, ...guest }: Guest, input: By) {
  const detail = {
    camera: camera.id,
    guest: id,
    can_view_rec: guest.canViewRecordings,
    share_notifications: guest.sharesNotifications,
  }
  return { userId: camera.ownerId, subject: email, ...withContext(input), detail }
}

function isGuestAlready(): AppError {
  return invalidEmail('This email address already belongs to a guest of the camera.')
}

function invalidEmail(reason: string): AppError {
  return new AppError('invalid', reason, { fields: { email: [reason] } })
}
