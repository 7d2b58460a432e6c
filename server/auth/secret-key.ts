// The server's only secret: 32 random bytes in a file beside the database. Each purpose gets its own key, derived with
// HKDF-SHA256 (RFC 5869).

import { hkdfSync, randomBytes } from 'node:crypto'
import { link, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../base/error.ts'
import { makeFolder } from '../base/make-folder.ts'
import { syncFolder } from '../base/sync-folder.ts'

const keyBytes = 32

/** The purposes of keys. A name must never change. */
export type KeyPurpose =
  | 'camera credentials'
  | 'media tokens'
  | 'known devices'
  | 'return to'
  | 'pending steps'
  | 'waiting mails'
  | 'passkey challenges'
  | 'passkey user handles'
  | 'begun sign-ins'
  | 'found accounts'
  | 'servers'
  | 'long paths'
  | 'repeated requests'

export class SecretKey {
  readonly #key: Uint8Array

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** Returns 32 bytes, always the same for the same purpose. */
  deriveKey(purpose: KeyPurpose): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#key, '', `nightjar ${purpose}`, keyBytes))
  }
}

/**
 * Reads `secret.key`, or creates it. Processes that start at the same time agree on one key. `givenFile`: read instead.
 * With `mustExist`, none is created: other servers have one already. Throws 'corrupt', 'unavailable' and 'not_found'.
 */
export async function openSecretKey(
  dataDir: string,
  { givenFile, mustExist = givenFile !== undefined }: { givenFile?: string | undefined; mustExist?: boolean } = {},
): Promise<SecretKey> {
  const file = givenFile ?? join(dataDir, 'secret.key')
  try {
    await makeFolder(dataDir, 0o700)
    const key = await readKey(file)
    if (!key && mustExist) throw createMissing(file, givenFile)
    // The process that created the file may have died before its name was on disk.
    if (key && givenFile === undefined) await syncFolder(dataDir)
    return new SecretKey(key ?? (await createKey(file, dataDir)))
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('unavailable', `the key file ${file} can be neither read nor created`, { cause })
  }
}

function createMissing(file: string, givenFile: string | undefined): AppError {
  const advice =
    givenFile === undefined
      ? 'name that of the server with the cameras with --secret-key-file, or copy it there'
      : 'copy secret.key from the data folder of the server that made the database'
  return new AppError('not_found', `there is no key file ${file}: ${advice}`)
}

async function readKey(file: string): Promise<Uint8Array | undefined> {
  let text: string
  try {
    text = await readFile(file, 'ascii')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  if (!/^[0-9a-f]{64}\n?$/.test(text)) {
    throw new AppError('corrupt', `${file} does not contain 64 hexadecimal digits: restore it from a backup`)
  }
  return Buffer.from(text.trim(), 'hex')
}

/** The file appears under its name only when it is complete and on disk. The first process to link it wins. */
async function createKey(file: string, dataDir: string): Promise<Uint8Array> {
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(keyBytes).toString('hex')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  let isOurs = true
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    isOurs = false
  } finally {
    await unlink(draft)
  }
  try {
    await syncFolder(dataDir)
  } catch (error) {
    // Values that are sealed with a key that is lost in a power failure could never be unsealed.
    if (isOurs) await unlink(file)
    throw error
  }
  return (await readKey(file))!
}
