// The certificate the server shows: files given in the configuration, or one it signs itself, kept in the data folder
// and renewed when it is about to expire or the names it is reached by have changed.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/error.ts'
import { replaceFile } from '../../base/replace-file.ts'
import type { Identity } from './secure-server.ts'

const dayMs = 86_400_000
const lifetimeMs = 397 * dayMs
const renewBeforeMs = 30 * dayMs

export type OwnIdentity = Identity & {
  /** The file clients can be told to trust. */
  readonly certFile: string
  /** SHA-256, as browsers show it. */
  readonly fingerprint: string
}

/** PEM files of the operator. Throws 'invalid' when they cannot be read or do not belong together. */
export async function loadIdentity(certFile: string, keyFile: string): Promise<OwnIdentity> {
  const [cert, key] = await Promise.all([certFile, keyFile].map(readPem))
  return { ...checkPair(cert!, key!, certFile), cert: cert!, key: key!, certFile }
}

/**
 * The self-signed certificate in `{dataDir}/tls`, made or renewed when needed; `hosts` are names and addresses it must
 * carry.
 */
export async function openOwnIdentity(options: {
  readonly dataDir: string
  readonly hosts: readonly string[]
  readonly clock: Clock
}): Promise<OwnIdentity> {
  const { dataDir, clock } = options
  const hosts = listHosts(options.hosts)
  const folder = join(dataDir, 'tls')
  const certFile = join(folder, 'cert.pem')
  const keyFile = join(folder, 'key.pem')
  const kept = await findKept(certFile, keyFile)
  if (kept && isStillGood(kept.cert, hosts, clock.nowMs())) return { ...kept, certFile }
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const made = await makeIdentity(hosts, clock.nowMs())
  // The key first: a crash in between leaves a pair that does not match, which the next start replaces.
  // Both are synced: clients may trust this certificate, so a power loss must not lead to another one.
  await replaceFile(keyFile, made.key, 0o600)
  await replaceFile(certFile, made.cert, 0o644)
  return { ...checkPair(made.cert, made.key, certFile), ...made, certFile }
}

/** The names every certificate carries besides; IPv6 addresses without the brackets of a URL. */
function listHosts(hosts: readonly string[]): string[] {
  const bare = hosts.map((host) => host.replace(/^\[(.*)\]$/, '$1'))
  return [...new Set([...bare, 'localhost', '127.0.0.1', '::1', hostname()])].filter((host) => host !== '')
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

function isStillGood(cert: string, hosts: readonly string[], nowMs: number): boolean {
  const certificate = new X509Certificate(cert)
  const isCurrent =
    nowMs >= certificate.validFromDate.getTime() && nowMs < certificate.validToDate.getTime() - renewBeforeMs
  return isCurrent && hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)))
}

async function makeIdentity(hosts: readonly string[], nowMs: number): Promise<Identity> {
  const altNames = hosts.map((host) =>
    isIP(host) ? { type: 7 as const, ip: host } : { type: 2 as const, value: host },
  )
  const pair = await generate([{ name: 'commonName', value: 'Nightjar' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    // An hour back, for clients whose clock is behind.
    notBeforeDate: new Date(nowMs - 3_600_000),
    notAfterDate: new Date(nowMs - 3_600_000 + lifetimeMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames },
    ],
  })
  return { key: pair.private, cert: pair.cert }
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
