// Explains disk errors to the owner of the camera.

/** Our own codes, in addition to the system's. */
export type OwnDiskCode =
  /** The write would use space that must stay free. */
  | 'EFLOOR'
  /** The archive folder is empty or foreign: its disk is not mounted. */
  | 'EAWAY'

export function createDiskError(code: OwnDiskCode, message: string): Error {
  return Object.assign(new Error(message), { code })
}

export function isDiskFull(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFLOOR'
}

/** Nothing fails, but not in time. */
export const slowDisk = 'The disk that keeps the recordings takes too long.'

const sentences: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk that keeps the recordings is full.',
  EFLOOR: 'The disk that keeps the recordings is full, but for the space that stays free.',
  EAWAY: 'The disk that keeps the recordings is not there.',
  ENODEV: 'The disk that keeps the recordings is not there.',
  ENXIO: 'The disk that keeps the recordings is not there.',
  EDQUOT: 'The disk quota for the recordings is used up.',
  EACCES: 'The server may not write to the folder that keeps the recordings.',
  EPERM: 'The server may not write to the folder that keeps the recordings.',
  EROFS: 'The disk that keeps the recordings is read-only.',
  ENOTDIR: 'The folder that keeps the recordings is not a folder.',
  ENOENT: 'The folder that keeps the recordings is missing.',
  EIO: 'The disk that keeps the recordings reports an error of the device.',
  ESTALE: 'The network disk that keeps the recordings is not there.',
  ETIMEDOUT: 'The network disk that keeps the recordings does not answer.',
  EHOSTDOWN: 'The network disk that keeps the recordings does not answer.',
  EMFILE: 'The server has too many open files.',
  ENFILE: 'The system has too many open files.',
}

/** One sentence, without paths. */
export function describeDiskError(error: unknown): string {
  const code = codeOf(error)
  return sentences[code ?? ''] ?? `The disk that keeps the recordings fails${code ? ` (${code})` : ''}.`
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
}
