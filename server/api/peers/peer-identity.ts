// With what servers of one installation prove to each other that they belong together: certificates of an authority
// whose key is derived from the secret key. Each server makes its own at its start and keeps it in memory.

import { createECDH, randomBytes, webcrypto } from 'node:crypto'
import { loadX509, signing } from '../transport/make-certificate.ts'
import type { Identity } from '../transport/secure-server.ts'

/** `authority`: the certificate that those of the other servers are checked with, PEM. */
export type PeerIdentity = Identity & { readonly authority: string }

/**
 * Wrong clocks must not separate servers here: they are compared with that of the database. What ends a certificate is
 * the end of its process.
 */
const notBefore = new Date(Date.UTC(2026, 0, 1))
const notAfter = new Date(Date.UTC(2126, 0, 1))
const authorityName = 'CN=Nightjar servers'

/** `key`: 32 bytes, the same on all servers. `name`: of this server; it becomes the common name. */
export async function makePeerIdentity(key: Uint8Array, name: string): Promise<PeerIdentity> {
  const x509 = await loadX509()
  const { subtle } = webcrypto
  const issuer = await importKeys(key)
  const own = (await subtle.generateKey(signing.curve, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
  const dates = { notBefore, notAfter, signingAlgorithm: signing.algorithm, signingKey: issuer.privateKey }
  const authority = await x509.X509CertificateGenerator.create(
    {
      ...{ ...dates, serialNumber: '01', subject: authorityName, issuer: authorityName },
      publicKey: issuer.publicKey,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    },
    webcrypto,
  )
  const certificate = await x509.X509CertificateGenerator.create(
    {
      ...{ ...dates, serialNumber: `40${randomBytes(15).toString('hex')}` },
      ...{ subject: `CN=${name}`, issuer: authorityName, publicKey: own.publicKey },
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
      ],
    },
    webcrypto,
  )
  return {
    cert: certificate.toString('pem'),
    key: x509.PemConverter.encode(await subtle.exportKey('pkcs8', own.privateKey), 'PRIVATE KEY'),
    authority: authority.toString('pem'),
  }
}

/** The key pair whose private key is this number. */
async function importKeys(key: Uint8Array): Promise<webcrypto.CryptoKeyPair> {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(key)
  const point = pair.getPublicKey()
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
  const open = { kty: 'EC', crv: 'P-256', x: text(point.subarray(1, 33)), y: text(point.subarray(33)) }
  const [privateKey, publicKey] = await Promise.all([
    webcrypto.subtle.importKey('jwk', { ...open, d: text(key) }, signing.curve, false, ['sign']),
    webcrypto.subtle.importKey('jwk', open, signing.curve, true, ['verify']),
  ])
  return { privateKey, publicKey }
}
