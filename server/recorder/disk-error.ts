// What a failure of the disk means, in words for the owner of the camera.

export function isDiskFull(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

const sentences: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk that keeps the recordings is full.',
  EDQUOT: 'The disk quota for the recordings is used up.',
  EACCES: 'The server may not write to the folder that keeps the recordings.',
  EPERM: 'The server may not write to the folder that keeps the recordings.',
  EROFS: 'The disk that keeps the recordings is read-only.',
  ENOTDIR: 'The folder that keeps the recordings is not a folder.',
  ENOENT: 'The folder that keeps the recordings is missing.',
  EIO: 'The disk that keeps the recordings reports an error of the device.',
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
