// Waiting that a program can break off. Rejects with the signal's reason.

/** What `work` gives, unless the signal is aborted first; the work itself goes on. */
export async function waitFor<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  let abort = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export async function pause(ms: number, signal?: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    await waitFor(new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))), signal)
  } finally {
    clearTimeout(timer)
  }
}
