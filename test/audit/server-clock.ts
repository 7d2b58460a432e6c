// The clock of the server under audit, which the audit sets: libfaketime gives the server's processes the system's time plus
// an offset that is read from a file. Monotonic clocks stay as they are, as when an administrator sets the clock.

import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const libraries = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
]

/** Further back than the audit sets the clock. */
const slowMs = -6 * 3_600_000

export type ClockStep = { readonly atMs: number; readonly offsetMs: number }

export type ServerClock = {
  /** For the server's process; empty where libfaketime is not installed: then its clock cannot be set. */
  readonly environment: Readonly<Record<string, string>>
  readonly canBeSet: boolean
  /** Puts it right: until then it is hours slow, for footage that is older than all that is looked at. */
  begin(): Promise<void>
  /** From now on the server's clock is the system's plus this. */
  set(offsetMs: number): Promise<void>
  /** In the order of time; the first is the beginning. */
  readonly steps: readonly ClockStep[]
}

/** `folder`: a place for its file. */
export async function openServerClock(folder: string): Promise<ServerClock> {
  const library = libraries.find(existsSync)
  const file = join(folder, 'clock-offset')
  const steps: ClockStep[] = [{ atMs: Number.NEGATIVE_INFINITY, offsetMs: 0 }]
  const write = async (offsetMs: number) => {
    // Replaced in one step: a reader finds the old offset or the new one.
    await writeFile(`${file}.new`, `${offsetMs < 0 ? '-' : '+'}${(Math.abs(offsetMs) / 1000).toFixed(3)}\n`)
    await rename(`${file}.new`, file)
  }
  await write(slowMs)
  return {
    canBeSet: library !== undefined,
    environment:
      library === undefined
        ? {}
        : {
            LD_PRELOAD: library,
            FAKETIME_TIMESTAMP_FILE: file,
            FAKETIME_NO_CACHE: '1',
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
            FAKETIME_DISABLE_SHM: '1',
            NO_FAKE_STAT: '1',
          },
    steps,
    begin: () => write(0),
    async set(offsetMs) {
      if (!library) throw new Error('the clock cannot be set without libfaketime (Debian package faketime)')
      await write(offsetMs)
      steps.push({ atMs: Date.now(), offsetMs })
    },
  }
}

/** What a picture taken just around a step may be stamped with: the server notices a step with what arrives after it. */
export const earlyMs = 1000
/** The longest group of pictures, of a camera that sends a third of what it stamps, and some. */
const settlingMs = 6500

/**
 * The server's clock at a true time, Unix milliseconds; around a step both readings, the one in force first. `sentMs`: when
 * what was taken at that time was sent, if it was sent later.
 */
export function serverTimes(steps: readonly ClockStep[], trueMs: number, sentMs = trueMs): number[] {
  const current = steps.findLastIndex(({ atMs }) => atMs <= trueMs)
  const times = [trueMs + steps[current]!.offsetMs]
  for (let i = current - 1; i >= 0 && steps[i + 1]!.atMs > trueMs - settlingMs; i--)
    times.push(trueMs + steps[i]!.offsetMs)
  const later = steps.slice(current + 1).filter(({ atMs }) => atMs < sentMs + earlyMs)
  return [...times, ...later.map(({ offsetMs }) => trueMs + offsetMs)]
}

export type Stretch = { readonly fromMs: number; readonly toMs: number }

/** What the server's clock showed from one true time to another: a stretch for each setting. */
export function shownStretches(steps: readonly ClockStep[], fromMs: number, toMs: number): Stretch[] {
  return steps
    .map(({ atMs, offsetMs }, i) => ({
      fromMs: Math.max(atMs, fromMs) + offsetMs,
      toMs: Math.min(steps[i + 1]?.atMs ?? Number.POSITIVE_INFINITY, toMs) + offsetMs,
    }))
    .filter((stretch) => stretch.fromMs < stretch.toMs)
}
