// The certificate that the server shows: files given in the configuration, or one signed by an authority of our own
// (make-certificate.ts). Both are in the data folder. The certificate is renewed when it is about to expire or the names
// of the server have changed; devices trust the authority, which stays.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { replaceFile } from '../../base/replace-file.ts'
import { makeAuthority, makeServerCertificate, maySignFor } from './make-certificate.ts'
import type { Identity } from './secure-server.ts'

const dayMs = 86_400_000
const renewBeforeMs = 30 * dayMs

export type OwnIdentity = Identity & {
  /** The file clients can be told to trust. */
  readonly certFile: string
  /** SHA-256, as browsers show it. */
  readonly fingerprint: string
  /** What devices are made to trust; undefined for files of the operator. */
  readonly authority?: OwnAuthority
}

/** The certificate as PEM, and its fingerprint. */
export type OwnAuthority = { readonly cert: string; readonly fingerprint: string }

/** PEM files of the operator. Throws 'invalid' when they cannot be read or do not belong together. */
export async function loadIdentity(certFile: string, keyFile: string): Promise<OwnIdentity> {
  const [cert, key] = await Promise.all([certFile, keyFile].map(readPem))
  return { ...checkPair(cert!, key!, certFile), cert: cert!, key: key!, certFile }
}

/**
 * The certificate in `{dataDir}/tls`, with its authority, made or renewed when needed; `hosts` are names and addresses it
 * must carry. The clock should be one that does not follow a machine whose clock is far ahead: nobody would trust the
 * certificate once that is put right.
 */
export async function openOwnIdentity(options: {
  readonly dataDir: string
  readonly hosts: readonly string[]
  readonly clock: Pick<Clock, 'nowMs'>
}): Promise<OwnIdentity> {
  const { dataDir, clock } = options
  /** IPv6 addresses without the brackets of a URL. */
  const own = options.hosts.map((host) => host.replace(/^\[(.*)\]$/, '$1'))
  const machine = hostname().toLowerCase()
  const folder = join(dataDir, 'tls')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const nowMs = clock.nowMs()
  const authority = await openPair(folder, 'ca', {
    // A container has another name after each update, and its devices must not have to trust another authority.
    isGood: (certificate) => isCurrent(certificate, nowMs) && own.every((host) => maySignFor(certificate, host)),
    make: () => makeAuthority([...own, machine].filter(isName), nowMs),
  })
  const issuer = new X509Certificate(authority.cert)
  // One name that the authority may not sign for would make the certificate invalid.
  const hosts = [...new Set([...own, 'localhost', '127.0.0.1', '::1', machine])].filter(
    (host) => isName(host) && maySignFor(issuer, host),
  )
  const shown = await openPair(folder, 'server', {
    isGood: (certificate) =>
      isCurrent(certificate, nowMs) &&
      certificate.checkIssued(issuer) &&
      certificate.verify(issuer.publicKey) &&
      hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host))),
    make: () => makeServerCertificate(authority, hosts, nowMs),
  })
  const { cert, fingerprint } = authority
  return { ...shown, authority: { cert, fingerprint } }
}

const fileNames = { ca: ['ca.pem', 'ca-key.pem'], server: ['cert.pem', 'key.pem'] } as const

/** A certificate and its key that are kept in files, and made anew when they are absent, damaged or not good any more. */
async function openPair(
  folder: string,
  kind: keyof typeof fileNames,
  { isGood, make }: { isGood: (certificate: X509Certificate) => boolean; make: () => Promise<Identity> },
): Promise<OwnIdentity> {
  const [certFile, keyFile] = fileNames[kind].map((name) => join(folder, name)) as [string, string]
  const kept = await findKept(certFile, keyFile)
  if (kept && isGood(new X509Certificate(kept.cert))) return { ...kept, certFile }
  const made = await make()
  // The key first: a crash in between leaves a pair that does not match, which the next start replaces.
  // Both are synced: clients may trust this certificate, so a power loss must not lead to another one.
  await replaceFile(keyFile, made.key, 0o600)
  await replaceFile(certFile, made.cert, 0o644)
  return { ...checkPair(made.cert, made.key, certFile), ...made, certFile }
}

/** An address, or a name as certificates carry it. */
function isName(host: string): boolean {
  return isIP(host) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host)
}

async function findKept(certFile: string, keyFile: string): Promise<(Identity & { fingerprint: string }) | undefined> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
    await chmod(keyFile, 0o600)
    return { ...checkPair(cert, key, certFile), cert, key }
  } catch {
    return undefined // absent, damaged or half written: made anew
  }
}

/** One that begins in the future is kept: the clock is wrong, and what is trusted must not be replaced for that. */
function isCurrent(certificate: X509Certificate, nowMs: number): boolean {
  return nowMs < certificate.validToDate.getTime() - renewBeforeMs
}

function checkPair(cert: string, key: string, certFile: string): { fingerprint: string } {
  try {
    const certificate = new X509Certificate(cert)
    if (certificate.checkPrivateKey(createPrivateKey(key))) return { fingerprint: certificate.fingerprint256 }
  } catch (cause) {
    throw new AppError('invalid', `no usable PEM certificate and key at ${certFile}`, { cause })
  }
  throw new AppError('invalid', `the private key does not match the certificate ${certFile}`)
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new AppError('invalid', `cannot read ${file}`, { cause })
  }
}
