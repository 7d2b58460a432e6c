// Copies of an SQLite file: how they are made while a server writes, and how one is recognized that was put in the place
// of the database it was made of.
//
// SQLite replays whatever log lies beside a file. The log of a server that was killed would silently undo a restore, or
// mix both databases.

import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../base/error.ts'
import type { Logger } from '../../base/log.ts'
import { succeedsIfSupported } from '../../base/sync-folder.ts'
import { lockFile } from '../engine/file-lock.ts'
import { explainSqliteFailure } from './sqlite-failure.ts'

/** SQLite's own limit of a wait; the file is locked for moments only. */
const timeoutMs = 5000

/**
 * Writes a copy of the database into `target`, a new file that only its owner can read, and checks it. Writers are not
 * held up. Blocks the thread. Resolves with the size in bytes when the copy is on the disk. Throws 'unavailable' and the
 * system's error, and leaves no file then.
 */
export async function copyDatabase(file: string, target: string): Promise<number> {
  await rm(target, { force: true })
  try {
    // SQLite copies into an empty file as it is, with its mode.
    await (await open(target, 'wx', 0o600)).close()
    using source = new DatabaseSync(file, { timeout: timeoutMs })
    source.prepare('vacuum into ?').run(target)
    using copy = new DatabaseSync(target, { readOnly: true })
    const { quick_check: result } = copy.prepare('pragma quick_check(1)').get() as { quick_check: string }
    if (result !== 'ok') throw new AppError('corrupt', `the copy is damaged: ${result}`)
    await using handle = await open(target, 'r+')
    await succeedsIfSupported(handle.sync())
    return (await handle.stat()).size
  } catch (error) {
    await rm(target, { force: true }).catch(() => {})
    throw explainSqliteFailure(error)
  }
}

/** https://sqlite.org/fileformat2.html#the_database_header */
const magic = 'SQLite format 3\0'
const headerBytes = 32
const writeVersionOffset = 18
const changeCounterOffset = 24
const pagesOffset = 28
const rollbackMode = 1

async function readHeader(file: string): Promise<Buffer | undefined> {
  let handle: FileHandle
  try {
    handle = await open(file, 'r')
  } catch {
    return undefined
  }
  await using _ = handle
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headerBytes), 0, headerBytes, 0)
  return bytesRead === headerBytes && buffer.toString('latin1', 0, magic.length) === magic ? buffer : undefined
}

export async function isSqliteFile(file: string): Promise<boolean> {
  return (await readHeader(file)) !== undefined
}

/**
 * True for a copy that nobody has opened to write: `vacuum into` leaves the log off, and `.backup` counts its first
 * change. A database of a server has a log and many changes.
 */
function isNewCopy(header: Buffer | undefined): boolean {
  if (!header) return false
  const hasTables = header.readUInt32BE(pagesOffset) > 1
  return hasTables && (header[writeVersionOffset] === rollbackMode || header.readUInt32BE(changeCounterOffset) === 1)
}

/**
 * Call before the database is opened: sets a log aside that belongs to what a copy has replaced. Throws 'unavailable' if
 * it cannot be moved.
 */
export async function setOldLogAside(file: string, log: Logger): Promise<void> {
  if (!isNewCopy(await readHeader(file))) return
  const lockName = `${file}.copy-lock`
  using _ = await waitForLock(lockName)
  // Another process may have been first: then the log is that of the copy.
  if (!isNewCopy(await readHeader(file))) return
  const { size } = await stat(`${file}-wal`).catch(() => ({ size: 0 }))
  if (size > 0) {
    const aside = `${file}-wal.replaced`
    await rename(`${file}-wal`, aside)
    log.warn({ file: aside }, 'the log of the database that was replaced by a copy was set aside')
  }
  await rm(`${file}-shm`, { force: true })
  using copy = new DatabaseSync(file, { timeout: timeoutMs })
  // Each change of the mode is a change of the file, so that it is no new copy any more.
  copy.exec('pragma journal_mode = delete; pragma journal_mode = wal')
  await rm(lockName, { force: true })
}

async function waitForLock(name: string): Promise<Disposable> {
  for (const untilMs = performance.now() + timeoutMs; ; ) {
    const lock = lockFile(name)
    if (lock) return lock
    if (performance.now() > untilMs) throw new AppError('unavailable', `the file ${name} stays locked`)
    await sleep(20)
  }
}
