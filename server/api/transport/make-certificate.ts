// Makes certificates: a small authority of our own, which devices are made to trust once, and what it signs for this
// server. Android installs only authorities (`CA:TRUE`), and iOS plays video only from servers whose certificate it
// trusts.
//
// Whoever stole the key of an authority could pose as any site to the devices that trust it. Therefore this one can sign
// only for the names of this server, local names, and addresses of private networks (RFC 5280 section 4.2.1.10).

import { randomBytes, webcrypto, type X509Certificate } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { Identity } from './secure-server.ts'

const dayMs = 86_400_000
/** iOS refuses certificates that are valid for longer than 825 days, and browsers those of the web after 398. */
const lifetimeMs = 397 * dayMs
const authorityLifetimeMs = 20 * 365 * dayMs
/** Earlier than any right clock. */
const authorityStartMs = Date.UTC(2026, 0, 1)
/** For clients whose clocks are behind, and for our own, if it is in another time zone by mistake. */
const earlierMs = 86_400_000

const { subtle } = webcrypto
const curve = { name: 'ECDSA', namedCurve: 'P-256' }
const signature = { name: 'ECDSA', hash: 'SHA-256' }
export const signing = { curve, algorithm: signature } as const

/** Loaded when it is needed: a certificate is made once a year. */
export async function loadX509() {
  // Its dependency injection wants this first.
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

/** `hosts`: names and addresses that it may sign for, besides those of local networks. */
export async function makeAuthority(hosts: readonly string[], nowMs: number): Promise<Identity> {
  const x509 = await loadX509()
  const { KeyUsageFlags } = x509
  const keys = await generateKeys()
  // Devices list it by this name, and two servers must differ.
  const name = `CN=Nightjar ${randomBytes(4).toString('hex')}`
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: createSerial(),
      subject: name,
      issuer: name,
      notBefore: new Date(authorityStartMs),
      notAfter: new Date(Math.max(nowMs, authorityStartMs) + authorityLifetimeMs),
      signingAlgorithm: signature,
      publicKey: keys.publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        new x509.Extension('2.5.29.30', true, writeConstraints(hosts.filter((host) => !isLocal(host)))),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  )
  return { cert: certificate.toString('pem'), key: await exportKey(keys.privateKey) }
}

/** A certificate of a server for all these names and addresses. The chain ends with the authority. */
export async function makeServerCertificate(
  authority: Identity,
  hosts: readonly string[],
  nowMs: number,
): Promise<Identity> {
  const x509 = await loadX509()
  const [keyBytes] = x509.PemConverter.decode(authority.key)
  const signingKey = await subtle.importKey('pkcs8', keyBytes!, curve, false, ['sign'])
  const issuer = new x509.X509Certificate(authority.cert)
  const keys = await generateKeys()
  const names = hosts.map((host) => ({ type: isIP(host) ? ('ip' as const) : ('dns' as const), value: host }))
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: createSerial(),
      subject: 'CN=Nightjar',
      issuer: issuer.subject,
      notBefore: new Date(nowMs - earlierMs),
      notAfter: new Date(nowMs - earlierMs + lifetimeMs),
      signingAlgorithm: signature,
      publicKey: keys.publicKey,
      signingKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  )
  return { cert: `${certificate.toString('pem')}\n${authority.cert}`, key: await exportKey(keys.privateKey) }
}

/** Whether this certificate of an authority allows it to sign for a name or an address. */
export function maySignFor(authority: X509Certificate, host: string): boolean {
  return isLocal(host) || authority.raw.includes(writeSubtree(host))
}

/** Ends of names that only local networks know, and `fritz.box`, the most common router of Germany. */
const localNames = [
  'localhost',
  'local',
  'lan',
  'home',
  'internal',
  'intranet',
  'localdomain',
  'home.arpa',
  'fritz.box',
]
const localBlocks = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['::1', 128],
] as const

const localAddresses = new BlockList()
for (const [address, bits] of localBlocks)
  localAddresses.addSubnet(address, bits, address.includes(':') ? 'ipv6' : 'ipv4')

function isLocal(host: string): boolean {
  if (isIP(host)) return localAddresses.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
  return localNames.some((name) => host === name || host.endsWith(`.${name}`))
}

/** NameConstraints: permitted subtrees only, [0] IMPLICIT SEQUENCE OF GeneralSubtree. */
function writeConstraints(hosts: readonly string[]): Uint8Array<ArrayBuffer> {
  const subtrees = [
    ...[...localNames, ...hosts.filter((host) => !isIP(host))].map((name) => writeSubtree(name)),
    ...localBlocks.map(([address, bits]) => writeSubtree(address, bits)),
    ...hosts.filter((host) => isIP(host)).map((address) => writeSubtree(address)),
  ]
  return new Uint8Array(writeDer(0x30, writeDer(0xa0, Buffer.concat(subtrees))))
}

/** GeneralSubtree: a name with all below it, [2]; or an address and the bits that count, all by default, [7]. */
function writeSubtree(host: string, bits?: number): Buffer {
  if (!isIP(host)) return writeDer(0x30, writeDer(0x82, Buffer.from(host)))
  const address = writeAddress(host)
  const count = bits ?? address.length * 8
  const mask = Buffer.from(address.map((_, i) => 0xff & ~(0xff >> Math.max(0, Math.min(8, count - i * 8)))))
  return writeDer(0x30, writeDer(0x87, Buffer.concat([address, mask])))
}

function writeAddress(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...before!, ...Array.from({ length: 8 - before!.length - after!.length }, () => '0'), ...after!]
  return Buffer.from(groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]))
}

/** Lengths below 64 KiB. */
function writeDer(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return (await subtle.generateKey(curve, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const { PemConverter } = await loadX509()
  return PemConverter.encode(await subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

/** A positive number of 20 bytes at most (RFC 5280 section 4.1.2.2). */
function createSerial(): string {
  return `40${randomBytes(15).toString('hex')}`
}
