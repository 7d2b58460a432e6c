// Explains disk errors to the owner of the camera.

import { constants } from 'node:os'

/** The codes of this server, in addition to the system's. */
export type OwnDiskCode =
  /** The write would use space that must stay free. */
  | 'EFLOOR'
  /** The archive folder is empty or belongs to something else: its disk is not mounted. */
  | 'EAWAY'

export function createDiskError(code: OwnDiskCode, message: string): Error {
  return Object.assign(new Error(message), { code })
}

export function isDiskFull(error: unknown): boolean {
  return codeOf(error) === 'EFLOOR' || isRefusedAsFull(error)
}

/** The system has no room, whatever it says about free space. */
export function isRefusedAsFull(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** The message for a disk that does not fail but is too slow. */
export const slowDisk = 'The disk for recordings is too slow: check its health and what else uses it.'

const sentences: Readonly<Record<string, string>> = {
  ENOSPC:
    'The disk for recordings is full, or takes no more files: free some space, or keep recordings for a shorter time.',
  EFLOOR:
    'The disk for recordings is full except for the reserved free space: free some space, or keep recordings for a shorter time.',
  EAWAY: 'The disk for recordings is missing: check that it is connected and mounted.',
  ENODEV: 'The disk for recordings is missing: check that it is connected and mounted.',
  ENXIO: 'The disk for recordings is missing: check that it is connected and mounted.',
  EDQUOT: 'The disk quota for recordings is used up: increase the quota, or keep recordings for a shorter time.',
  EACCES: 'The server may not write to the folder for recordings: check its owner and permissions.',
  EPERM: 'The server may not write to the folder for recordings: check its owner and permissions.',
  EROFS: 'The disk for recordings is read-only: check its health and how it is mounted.',
  ENOTDIR: 'The folder for recordings is not a folder: remove the file that is in its place.',
  ENOENT: 'The folder for recordings is missing: check that its disk is mounted.',
  EIO: 'The disk for recordings reported a device error: check its health and its cable.',
  ESTALE: 'The network disk for recordings is missing: check that it is mounted.',
  ETIMEDOUT: 'The network disk for recordings does not respond: check the network and the storage server.',
  EHOSTDOWN: 'The network disk for recordings does not respond: check the network and the storage server.',
  EMFILE: 'The server has too many open files: increase its limit of open files.',
  ENFILE: 'The system has too many open files: increase its limit of open files.',
}

/** Returns one sentence without paths. */
export function describeDiskError(error: unknown): string {
  const code = codeOf(error)
  return (
    sentences[code ?? ''] ??
    `Writing to the disk for recordings failed${code ? ` (${code})` : ''}: check the disk and the log of the server.`
  )
}

/** Node does not know these names: the code of such an error is "Unknown system error -122". */
const unnamed: ReadonlyMap<number | undefined, string> = new Map([
  [-constants.errno.EDQUOT, 'EDQUOT'],
  [-constants.errno.ESTALE, 'ESTALE'],
])

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { errno, code } = error as NodeJS.ErrnoException
  return unnamed.get(errno) ?? code
}
