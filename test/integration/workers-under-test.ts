// Media workers without the rest of a server: one worker thread that records into a temporary archive.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { systemClock } from '../../server/base/clock.ts'
import { silentLogger } from '../../server/base/log.ts'
import { MediaWorkers, type MediaWorkersOptions } from '../../server/cameras/media-workers.ts'
import { noIsolation } from '../../server/decoder/isolation/isolation.ts'
import { markFolder } from '../../server/places/place-folder.ts'
import { onePlace, testMark } from '../support/archive/one-place.ts'

type Options = Pick<MediaWorkersOptions, 'onReport' | 'onWorkerLost' | 'workerFile'> &
  Partial<Pick<MediaWorkersOptions, 'log' | 'firstSuspensionMs'>>

export type WorkersUnderTest = {
  readonly workers: MediaWorkers
  /** Ends the worker and resolves when everything that it sent has been reported. */
  stop(): Promise<void>
}

/** Creates a folder that is removed after the test. */
export async function makeArchiveFolder(t: TestContext): Promise<string> {
  const archiveDir = await mkdtemp(join(tmpdir(), 'nightjar-workers-'))
  t.after(() => rm(archiveDir, { recursive: true, force: true }))
  await markFolder(archiveDir, testMark)
  return archiveDir
}

/** Runs the worker until `stop` or the end of the test. */
export function runWorkers(t: TestContext, archiveDir: string, options: Options): WorkersUnderTest {
  const workers = new MediaWorkers({
    count: 1,
    places: () => onePlace(archiveDir).all,
    settings: {
      syncIntervalMs: 5000,
      minFreeBytes: 0,
      pendingBytes: 64 * 2 ** 20,
      earlierBytes: 64 * 2 ** 20,
      groupBytes: 512 * 2 ** 20,
      diskOperations: 4,
      addressRules: { allowLoopback: true },
      nameServers: undefined,
      connectsPerHost: 4,
      containers: 50,
      decodingBytes: 1024 * 1024 * 1024,
      isolation: noIsolation,
      logLevel: 'silent',
    },
    clock: systemClock,
    log: silentLogger,
    ...options,
  })
  const running = workers.run()
  const stop = async () => {
    await workers.stop()
    await running
  }
  t.after(stop)
  return { workers, stop }
}
