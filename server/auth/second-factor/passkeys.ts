// Passkeys (Web Authentication, level 3): creates options for browsers and verifies their responses. Permissions and
// consequences are decided elsewhere.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { invalidAccount } from '../../model/account-fault.ts'
import type { NewPasskey, Passkey, SecondFactors } from '../../store/accounts/second-factors.ts'
import type { User } from '../../store/accounts/users.ts'
import type { Challenges, ChallengeUse } from './challenges.ts'
import { challengeLifetimeMs } from './challenges.ts'

/** EdDSA, ES256 and RS256, as recommended in section 5.4 of the standard and supported by all browsers. */
const algorithms = [-8, -7, -257]
const maxAnswerLength = 12 * 1024
const maxTransports = 8

export type PasskeysOptions = {
  readonly rows: Pick<SecondFactors, 'list' | 'findPasskey' | 'notePasskeyUse'>
  readonly challenges: Challenges
  readonly publicUrl: string
  /** 32 bytes, used for nothing else. */
  readonly handleKey: Uint8Array
}

/**
 * `copied`: the signature is valid, but its counter is not higher than the last one, so the key may have been copied.
 */
export type PasskeyAnswer =
  | { readonly outcome: 'right'; readonly passkey: Passkey }
  | { readonly outcome: 'wrong' | 'copied'; readonly userId?: number }

/** Who must answer: a given user, or any user whom the authenticator itself has verified. */
export type PasskeyQuestion =
  | { readonly purpose: 'second'; readonly owner: string; readonly userId: number }
  | { readonly purpose: 'alone'; readonly owner: string }

export class Passkeys {
  readonly #options: PasskeysOptions
  /** Undefined if the server is reached at an IP address, where browsers do not support passkeys. */
  readonly #rpId: string | undefined

  constructor(options: PasskeysOptions) {
    this.#options = options
    const { hostname } = new URL(options.publicUrl)
    this.#rpId = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : undefined
  }

  get arePossible(): boolean {
    return this.#rpId !== undefined
  }

  /** Options for `navigator.credentials.create`. `owner` as in `ChallengeUse`. */
  async askNew(user: User, owner: string): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await loadLibrary()
    const { rows, challenges } = this.#options
    const { passkeys } = await rows.list(user.id)
    return generateRegistrationOptions({
      rpName: 'Nightjar',
      rpID: this.#rpId!,
      userName: user.email,
      userDisplayName: `${user.firstName} ${user.lastName}`.trim(),
      userID: new Uint8Array(this.#handleOf(user.id)),
      challenge: challenges.create({ purpose: 'add', owner }),
      timeout: challengeLifetimeMs,
      attestationType: 'none',
      excludeCredentials: passkeys.map(({ id, transports }) => ({ id, transports: [...transports] })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      supportedAlgorithmIDs: algorithms,
    })
  }

  /**
   * Verifies the JSON result of `navigator.credentials.create`. Throws 'invalid' unless it answers a valid challenge of
   * this owner. Each challenge works once.
   */
  async readNew(text: string, owner: string, userId: number): Promise<Omit<NewPasskey, 'name'>> {
    const { verifyRegistrationResponse } = await loadLibrary()
    const { challenges, publicUrl } = this.#options
    const use: ChallengeUse = { purpose: 'add', owner }
    const response = parseAnswer(text) as RegistrationResponseJSON | undefined
    let answered = ''
    const isGood = (challenge: string) => {
      answered = challenge
      return challenges.isGood(challenge, use)
    }
    const plain = response && isOfOwnPage(response) && (await dropAttestation(response))
    if (!plain) throw invalidAccount('passkey_wrong')
    const verified = await verifyRegistrationResponse({
      response: plain,
      expectedChallenge: isGood,
      expectedOrigin: publicUrl,
      expectedRPID: this.#rpId!,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    }).catch(() => undefined)
    if (!verified?.verified || !(await challenges.use(answered, use, userId))) throw invalidAccount('passkey_wrong')
    const { id, publicKey, counter, transports } = verified.registrationInfo.credential
    return { id, publicKey, counter, transports: readTransports(transports) }
  }

  /** Options for `navigator.credentials.get`. */
  async ask(question: PasskeyQuestion): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const { generateAuthenticationOptions } = await loadLibrary()
    const { rows, challenges } = this.#options
    const own = question.purpose === 'second' ? (await rows.list(question.userId)).passkeys : []
    return generateAuthenticationOptions({
      rpID: this.#rpId!,
      challenge: challenges.create(question),
      timeout: challengeLifetimeMs,
      allowCredentials: own.map(({ id, transports }) => ({ id, transports: [...transports] })),
      userVerification: question.purpose === 'alone' ? 'required' : 'preferred',
    })
  }

  /**
   * Verifies the JSON result of `navigator.credentials.get`. Succeeds at most once per challenge. Never throws for
   * invalid input; throws 'rate_limited' if the user has sent too many.
   */
  async check(text: string, question: PasskeyQuestion): Promise<PasskeyAnswer> {
    const { verifyAuthenticationResponse } = await loadLibrary()
    const { rows, challenges, publicUrl } = this.#options
    const response =
      this.#rpId === undefined ? undefined : (parseAnswer(text) as AuthenticationResponseJSON | undefined)
    const passkey = response && isOfOwnPage(response) && (await rows.findPasskey(response.id))
    if (!passkey) return { outcome: 'wrong' }
    const { userId } = passkey
    if (question.purpose === 'second' && userId !== question.userId) return { outcome: 'wrong' }
    if (question.purpose === 'alone' && !this.#isHandleOf(userId, response.response.userHandle)) {
      return { outcome: 'wrong', userId }
    }
    let answered = ''
    const isGood = (challenge: string) => {
      answered = challenge
      return challenges.isGood(challenge, question)
    }
    const verified = await verifyAuthenticationResponse({
      response,
      expectedChallenge: isGood,
      expectedOrigin: publicUrl,
      expectedRPID: this.#rpId!,
      // The counter is checked below, to distinguish a copied key from an invalid response.
      credential: { id: passkey.id, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
      requireUserVerification: question.purpose === 'alone',
    }).catch(() => undefined)
    if (!verified?.verified || !(await challenges.use(answered, question, userId))) return { outcome: 'wrong', userId }
    const { newCounter } = verified.authenticationInfo
    const isCounting = newCounter > 0 || passkey.counter > 0
    if (isCounting && newCounter <= passkey.counter) return { outcome: 'copied', userId }
    // Of two simultaneous responses with the same counter, only one succeeds.
    if (!(await rows.notePasskeyUse(passkey, newCounter))) return { outcome: 'wrong', userId }
    return { outcome: 'right', passkey }
  }

  /** The id of the account that authenticators store. It contains no personal data (section 14.6.1). */
  #handleOf(userId: number): Buffer {
    return createHmac('sha256', this.#options.handleKey).update(`user ${userId}`).digest()
  }

  #isHandleOf(userId: number, handle: unknown): boolean {
    const [expected, found] = [
      this.#handleOf(userId),
      Buffer.from(typeof handle === 'string' ? handle : '', 'base64url'),
    ]
    return found.length === expected.length && timingSafeEqual(found, expected)
  }
}

/** Loaded with the first passkey, because the library is large and most servers do not need it at the start. */
function loadLibrary(): Promise<typeof import('@simplewebauthn/server')> {
  return import('@simplewebauthn/server')
}

type Answer = { readonly id: string; readonly response: Readonly<Record<string, unknown>> }

/** The library checks the rest of the structure and throws. */
function parseAnswer(text: string): Answer | undefined {
  if (text.length > maxAnswerLength) return undefined
  try {
    const { id, response } = JSON.parse(text) as Partial<Answer>
    if (typeof id !== 'string' || typeof response !== 'object' || response === null) return undefined
    return JSON.parse(text) as Answer
  } catch {
    return undefined
  }
}

/**
 * No attestation was requested, but some authenticators and browsers send one. It is not looked at (section 7.1, step 22):
 * the make of an authenticator does not matter here, and revocation lists in certificates would make the server send
 * requests elsewhere.
 */
async function dropAttestation(answer: RegistrationResponseJSON): Promise<RegistrationResponseJSON | undefined> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await import('@simplewebauthn/server/helpers')
  try {
    const decoded = decodeAttestationObject(isoBase64URL.toBuffer(answer.response.attestationObject))
    const none = new Map<string, string | Uint8Array<ArrayBuffer> | Map<string, string>>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', decoded.get('authData')],
    ])
    const attestationObject = isoBase64URL.fromBuffer(isoCBOR.encode(none))
    return { ...answer, response: { ...answer.response, attestationObject } }
  } catch {
    return undefined
  }
}

/**
 * No page of another origin may show ours in a frame, so no passkey is created or used in one. The library accepts it
 * from browsers that do not name the other page.
 */
function isOfOwnPage({ response }: RegistrationResponseJSON | AuthenticationResponseJSON): boolean {
  try {
    const clientData = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString())
    return !clientData.crossOrigin && clientData.topOrigin === undefined
  } catch {
    return false
  }
}

function readTransports(transports: unknown): string[] {
  if (!Array.isArray(transports)) return []
  return transports
    .filter((name): name is string => typeof name === 'string' && /^[a-z-]{1,20}$/.test(name))
    .slice(0, maxTransports)
}
