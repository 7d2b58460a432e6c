// Creates accounts: the first owner's with the setup code, others by invitation, by sign-up, or by an owner.

import { AppError } from '../../base/error.ts'
import { conflictingAccount, invalidAccount } from '../../model/account-fault.ts'
import { parseEmail } from '../../model/email.ts'
import { parsePersonName } from '../../model/person-name.ts'
import type { User } from '../../store/accounts/users.ts'
import { checkPassword } from '../password.ts'
import type { RequestContext } from '../request-context.ts'
import { createLinkToken, createSetupCode, hashLinkToken, hashSetupCode, writeLink } from './account-links.ts'
import type { AccountMails } from './account-mails.ts'
import { type AccountParts, about, by, withContext } from './account-parts.ts'
import type {
  AcceptInput,
  AccountsOptions,
  AddInput,
  InviteInput,
  Names,
  SetUpInput,
  SignUp,
} from './accounts-options.ts'
import type { BackgroundQueue } from './background-queue.ts'
import { badLink, type LinkService } from './link-service.ts'

/** What the page of an invitation shows. The link proves access to the mailbox. */
export type Invitation = {
  readonly email: string
  readonly inviterEmail: string | undefined
  /** The camera that the invitation shares, if any. */
  readonly camera: { readonly id: number; readonly name: string } | undefined
  /** True if the account was created in the meantime, so there is nothing left to accept. */
  readonly hasAccount: boolean
}

export class SignUpService {
  readonly #options: AccountsOptions
  readonly #links: LinkService
  readonly #mails: AccountMails
  readonly #background: BackgroundQueue

  constructor({ options, links, mails, background }: AccountParts) {
    this.#options = options
    this.#links = links
    this.#mails = mails
    this.#background = background
  }

  /** Who may create an account. */
  get policy(): SignUp {
    return this.#options.signUp
  }

  /** True until the first owner's account exists. */
  async isSetupPending(): Promise<boolean> {
    return !(await this.#options.store.users.hasOwner())
  }

  /** Creates a setup code for the server's console and invalidates the previous one. It works once, within 7 days. */
  async createSetupCode(): Promise<string> {
    const code = createSetupCode(this.#options.randomBytes)
    await this.#links.insert('setup', hashSetupCode(code)!, {})
    return code
  }

  /** Creates the first owner. Throws 'invalid' for a wrong code and 'conflict' if the server has an owner. */
  async setUp(input: SetUpInput): Promise<User> {
    const { store, passwords, audit } = this.#options
    const email = parseEmail(input.email)
    const names = readNames(input)
    await checkPassword(input.password, [email])
    const codeHash = hashSetupCode(input.code)
    // The code is checked before the password is hashed, so that guesses are cheap for the server.
    if (!codeHash || !(await store.links.find('setup', codeHash))) {
      if (await store.users.hasOwner()) throw conflictingAccount('set_up_already')
      throw invalidAccount('setup_code_wrong', 'code')
    }
    const passwordHash = await passwords.hash(input.password)
    const user = await store.accounts.setUp(codeHash, { ...names, email, passwordHash })
    audit.write({ event: 'user.created', ...about(user, input), detail: { via: 'setup', owner: true } })
    return user
  }

  /**
   * Sends a link to create an account, or a notice if there is one. The inviter cannot tell which. Throws 'forbidden'
   * if nobody may invite, 'invalid' for a malformed email address, and 'rate_limited'.
   */
  async invite(input: InviteInput): Promise<void> {
    const { store, audit, signUp } = this.#options
    const email = parseEmail(input.email)
    if (signUp === 'closed') throw new AppError('forbidden', 'only owners can create accounts')
    this.#background.check()
    const inviter = await store.users.get(input.inviterId)
    await this.#links.takeMail({ purpose: 'invitation', email, senderId: inviter.id })
    audit.write({ event: 'user.invited', userId: inviter.id, subject: email, ...withContext(input) })
    this.#background.do('an invitation could not be sent', () =>
      this.#sendInvitation(email, { inviter, cameraId: input.cameraId }),
    )
  }

  /**
   * Sends a link to create an account, without an inviter. Throws 'forbidden' unless everyone may sign up, 'conflict'
   * before the server has an owner, and 'rate_limited' after too many requests from one IP address or for one email
   * address.
   */
  async requestSignUp(emailText: string, context?: RequestContext): Promise<void> {
    const { audit, signUp } = this.#options
    const email = parseEmail(emailText)
    if (signUp !== 'open') throw new AppError('forbidden', 'accounts are created by invitation only')
    await this.#checkSetUp()
    this.#background.check()
    if (context) this.#links.takeSource('sign_up', context.ip)
    await this.#links.takeMail({ purpose: 'sign_up', email })
    audit.write({ event: 'user.signup_requested', subject: email, ...withContext({ context }) })
    this.#background.do('a sign-up link could not be sent', () => this.#sendInvitation(email, {}))
  }

  /** Returns what the page of an invitation shows, or undefined if the link is not valid. */
  async findInvitation(token: string): Promise<Invitation | undefined> {
    const { store } = this.#options
    const link = await this.#links.find('invitation', token)
    if (!link || this.#isRefused(link.inviterId)) return undefined
    const inviter = link.inviterId === null ? undefined : await store.users.find(link.inviterId)
    if (inviter && inviter.disabledAtMs !== null) return undefined
    const camera = link.cameraId === null ? undefined : await store.cameras.find(link.cameraId)
    return {
      email: link.email!,
      inviterEmail: inviter?.email,
      camera: camera && { id: camera.id, name: camera.name },
      hasAccount: (await store.users.findByEmail(link.email!)) !== undefined,
    }
  }

  /**
   * Throws 'not_found' for an invalid link, 'conflict' if the account exists or the server has no owner, and 'invalid'
   * naming fields.
   */
  async acceptInvitation(input: AcceptInput): Promise<User> {
    const { store, passwords, audit } = this.#options
    const hash = hashLinkToken(input.token)
    const found = hash && (await this.findInvitation(input.token))
    if (!found) throw badLink()
    await this.#checkSetUp()
    const names = readNames(input)
    await checkPassword(input.password, [found.email])
    const passwordHash = await passwords.hash(input.password)
    const { user, link } = await store.accounts.acceptInvitation(
      hash,
      { ...names, passwordHash },
      this.#options.guestsAddCameras === true,
    )
    const via = link.inviterId === null ? 'sign_up' : 'invitation'
    audit.write({ event: 'user.created', ...about(user, input), detail: { via } })
    return user
  }

  /**
   * Creates an account on behalf of an owner. Throws 'invalid' naming fields, and 'conflict' if the email address is in
   * use.
   */
  async add(input: AddInput): Promise<User> {
    const { store, passwords, audit } = this.#options
    const { phone = null, isOwner = false } = input
    const email = parseEmail(input.email)
    const names = readNames(input)
    await checkPassword(input.password, [email])
    const passwordHash = await passwords.hash(input.password)
    const user = await store.users.insert({ ...names, email, phone, isOwner, passwordHash })
    audit.write({
      event: 'user.created',
      ...about(user, input),
      detail: { via: 'owner', owner: isOwner, ...by(input) },
    })
    return user
  }

  async #sendInvitation(email: string, { inviter, cameraId }: { inviter?: User; cameraId?: number | undefined }) {
    const { store, randomBytes, publicUrl } = this.#options
    if (await store.users.findByEmail(email)) {
      await this.#mails.alreadyMember(email, inviter)
      return
    }
    const token = createLinkToken(randomBytes)
    await this.#links.insert('invitation', hashLinkToken(token)!, {
      email,
      inviterId: inviter?.id ?? null,
      cameraId: cameraId ?? null,
    })
    await this.#mails.invitation(email, inviter, writeLink(publicUrl, 'invitation', token))
  }

  /** The first account must be the owner's and requires the setup code, so no other account may exist before. */
  async #checkSetUp(): Promise<void> {
    if (await this.#options.store.users.hasOwner()) return
    throw conflictingAccount('set_up_not_yet')
  }

  /** The link may have been sent when more people were allowed to create accounts. */
  #isRefused(inviterId: number | null): boolean {
    const { signUp } = this.#options
    return signUp === 'closed' || (inviterId === null && signUp !== 'open')
  }
}

function readNames({ firstName, lastName }: Names): Names {
  return { firstName: parsePersonName(firstName, 'first_name'), lastName: parsePersonName(lastName, 'last_name') }
}
