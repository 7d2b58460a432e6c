// Downloads one file of footage: into FILE.part first, which a later run goes on with, and to its name when it is whole.

import { access, open, rename } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { readStartSeconds, readTimescales, shiftTimes } from './fragment-times.js'

/** A range that cannot be fetched is tried again after these times. */
const retryDelaysMs = [1000, 5000, 15_000]

export async function exists(file) {
  return access(file).then(
    () => true,
    () => false,
  )
}

/** Goes on with FILE.part where `mayResume`: it holds the beginning of the same. `onProgress` is told the bytes there are and will be. */
export async function downloadPart({ init, part: { ranges } }, file, { mayResume, onProgress }) {
  const totalBytes = init.length + ranges.reduce((sum, { bytes }) => sum + bytes, 0)
  const timescales = readTimescales(init)
  const handle = await open(`${file}.part`, mayResume ? 'a+' : 'w+')
  try {
    const { size } = await handle.stat()
    let startSeconds
    let at = init.length
    if (size < at) {
      await handle.truncate(0)
      await handle.appendFile(init)
    }
    for (const range of ranges) {
      const isThere = size >= at + range.bytes
      if (!isThere || startSeconds === undefined) {
        const bytes = await fetchRange(range)
        startSeconds ??= readStartSeconds(bytes, timescales)
        if (!isThere) {
          shiftTimes(bytes, timescales, startSeconds)
          await handle.truncate(at) // the beginning of a range that was broken off
          await handle.appendFile(bytes)
        }
      }
      at += range.bytes
      onProgress(at, totalBytes)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.part`, file)
  return totalBytes
}

/** Every byte of it, or an error: of the network only after some attempts. */
export async function fetchRange({ url, offset, bytes }) {
  const headers = { range: `bytes=${offset}-${offset + bytes - 1}` }
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) })
      if (response.status === 404) throw new RefusedError('this footage is not there any more')
      const words = `expected status 206 for a part of the footage, got ${response.status}`
      if (response.status >= 400 && response.status < 500 && response.status !== 429) throw new RefusedError(words)
      if (response.status !== 206) throw new Error(words)
      const body = Buffer.from(await response.arrayBuffer())
      if (body.length !== bytes) throw new Error(`expected ${bytes} bytes of footage, got ${body.length}`)
      return body
    } catch (error) {
      if (error instanceof RefusedError || attempt === retryDelaysMs.length) throw error
      await pause(retryDelaysMs[attempt])
    }
  }
}

/** Asking again would not help. */
class RefusedError extends Error {}
