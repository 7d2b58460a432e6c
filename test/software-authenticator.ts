// An authenticator of WebAuthn in software, with keys and signatures of its own, which also does what no browser would: another origin,
// a counter that stands still, the answer to another question.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export type Options = {
  readonly challenge: string
  readonly rp?: { readonly id?: string }
  readonly rpId?: string
  readonly user?: { readonly id: string }
}

export type Deviations = {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly isVerified?: boolean
  readonly counter?: number
  readonly userHandle?: string
  readonly type?: string
  readonly crossOrigin?: boolean
  /** Sends a certificate that nobody asked for, and that nobody can read. */
  readonly hasCertificate?: boolean
}

export class SoftwareAuthenticator {
  readonly id = randomBytes(16)
  readonly #origin: string
  readonly #privateKey: KeyObject
  readonly #publicKey: KeyObject
  #counter = 0
  #userHandle = ''

  /** `origin`: of the page that asks. */
  constructor(origin: string) {
    this.#origin = origin
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#privateKey = pair.privateKey
    this.#publicKey = pair.publicKey
  }

  /** As `navigator.credentials.create`, as JSON. */
  create(options: Options, deviations: Deviations = {}): string {
    this.#userHandle = options.user!.id
    const { x, y } = this.#publicKey.export({ format: 'jwk' })
    // COSE_Key (RFC 9053 section 7.1): EC2, ES256, P-256, both coordinates.
    const key = Buffer.concat([
      ...[Buffer.from('a5010203262001215820', 'hex'), Buffer.from(x!, 'base64url')],
      ...[Buffer.from('225820', 'hex'), Buffer.from(y!, 'base64url')],
    ])
    const idLength = Buffer.from([0, this.id.length])
    const attested = Buffer.concat([Buffer.alloc(16), idLength, this.id, key])
    const data = this.#data(options.rp?.id, 0x40, { isVerified: true, counter: 0, ...deviations })
    const authData = Buffer.concat([data, attested])
    // {"fmt": "none", "attStmt": {}, "authData": bytes}
    const none = Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex')
    // {"fmt": "packed", "attStmt": {"alg": -7, "sig": 4 bytes, "x5c": [4 bytes]}, "authData": bytes}
    const packed = Buffer.from(
      'a363666d74667061636b65646761747453746d74a363616c672663736967440102030463783563814405060708686175746844617461',
      'hex',
    )
    const head = deviations.hasCertificate ? packed : none
    const length = Buffer.from([0x58, authData.length])
    return this.#write({
      clientDataJSON: this.#client('webauthn.create', options, deviations),
      attestationObject: Buffer.concat([head, length, authData]),
      transports: ['internal'],
    })
  }

  /** As `navigator.credentials.get`, as JSON. */
  get(options: Options, deviations: Deviations = {}): string {
    this.#counter = deviations.counter ?? this.#counter + 1
    const authenticatorData = this.#data(options.rpId, 0, { isVerified: true, counter: this.#counter, ...deviations })
    const clientDataJSON = this.#client('webauthn.get', options, deviations)
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientDataJSON).digest()])
    const signature = sign('sha256', signed, this.#privateKey)
    const userHandle = deviations.userHandle ?? this.#userHandle
    return this.#write({ clientDataJSON, authenticatorData, signature, userHandle })
  }

  #data(rpId: string | undefined, flags: number, { isVerified, counter, ...other }: Deviations): Buffer {
    const hash = createHash('sha256').update(other.rpId ?? rpId ?? '')
    const tail = Buffer.alloc(5)
    tail[0] = flags | 1 | (isVerified ? 4 : 0)
    tail.writeUInt32BE(counter!, 1)
    return Buffer.concat([hash.digest(), tail])
  }

  #client(type: string, options: Options, deviations: Deviations): Buffer {
    const { challenge = options.challenge, origin = this.#origin, crossOrigin = false } = deviations
    return Buffer.from(JSON.stringify({ type: deviations.type ?? type, challenge, origin, crossOrigin }))
  }

  #write(response: Readonly<Record<string, Buffer | string | readonly string[]>>): string {
    const id = this.id.toString('base64url')
    const entries = Object.entries(response).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString('base64url') : value,
    ])
    const extras = { type: 'public-key', clientExtensionResults: {} }
    return JSON.stringify({ id, rawId: id, response: Object.fromEntries(entries), ...extras })
  }
}
