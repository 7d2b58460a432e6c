// The index of a month of a hundred cameras, asked through the real server. How and why: docs/design/benchmarks.md.

import { rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseFile } from '../../server/store/engine/database-file.ts'
import { createRandom } from '../../test/fake-camera/scene/random.ts'
import { openServer } from '../../test/server-under-test.ts'
import type { Bench } from '../bench.ts'
import { readBusyMs, readCpuMs } from '../process-usage.ts'
import { describeMachine, type Report, writeNumber } from '../report.ts'
import { median, percentile } from '../statistics.ts'
import { fillArchive, type Generated } from './generate-archive.ts'
import { type IndexResult, measureIndex } from './measure-index.ts'
import { doomed, measureRetention, type RetentionResult } from './measure-retention.ts'
import { openTimedClient } from './timed-client.ts'

const defaultCameras = 100
const days = 30

export const archiveBench: Bench = {
  name: 'archive',
  summary: 'asks for timelines and recorded streams of a month of many cameras, and deletes a part of it',
  help: `npm run bench -- archive [options]

  --cameras N   how many, each with ${days} days  [${defaultCameras}]
  --json        prints one JSON object and nothing else

Needs 12 GB of disk for ${defaultCameras} cameras, in the folder for temporary files.`,
  defaults: { cameras: defaultCameras },
  async run({ cameras, say }) {
    await using server = await openServer('--log-level', 'warn', '--rate-limit', '0', '--min-free', '0')
    try {
      const { ids, generated } = await fillArchive(server, { cameras, days, doomed, say })
      const indexBytes = (await stat(databaseFile(server.dataDir))).size
      const begunMs = performance.now()
      await server.start()
      const startMs = performance.now() - begunMs
      using client = openTimedClient(server.ca)
      const target = { server, client, cameraIds: ids, generated, random: createRandom(1), say }
      const readForeignCpuPercent = await beginWatchingOthers()
      const index = await measureIndex(target)
      const retention = await measureRetention(target)
      const foreignCpuPercent = await readForeignCpuPercent()
      return createReport({ cameras, generated, indexBytes, startMs, index, retention, foreignCpuPercent })
    } finally {
      say('Cleaning up …')
      await server.stop()
      // Several times as fast as without waiting, and there is nothing else to do.
      rmSync(join(server.dataDir, 'archive'), { recursive: true, force: true })
    }
  },
}

/** What others than the bench and its server used since then, of a core. */
async function beginWatchingOthers(): Promise<() => Promise<number>> {
  const read = async () => (await readBusyMs()) - (await readCpuMs([process.pid]))
  const [atMs, before] = [performance.now(), await read()]
  return async () => Math.max(0, (((await read()) - before) / (performance.now() - atMs)) * 100)
}

type Results = {
  readonly cameras: number
  readonly generated: Generated
  readonly indexBytes: number
  readonly startMs: number
  readonly index: IndexResult
  readonly retention: RetentionResult
  readonly foreignCpuPercent: number
}

function createReport(results: Results): Report {
  const { cameras, generated, indexBytes, startMs, index, retention, foreignCpuPercent } = results
  const { rows } = generated
  const line = (title: string, values: readonly number[]) => [
    title,
    ...[50, 95, 99].map((percent) => writeNumber(percentile(values, percent))),
    writeNumber(values.length),
  ]
  return {
    name: 'archive',
    title: 'A month of recordings',
    setting: [
      `${cameras} cameras × ${days} days: ${writeNumber(rows)} files of a minute with 60 fragments each, inserted in the order of time; SQLite. The files of a ` +
        'camera are one recorded minute of 2 Mbit/s under as many names (hard links); those that retention deletes are files of their own. The real server; ' +
        'one client on kept connections (TLS, HTTP/1.1), one request after the other at random places; a fresh recorded stream of one hour each time.',
      `Measured on ${describeMachine()}. Meanwhile other programs used ${writeNumber(foreignCpuPercent)} % of a core.`,
    ],
    tables: [
      {
        head: ['milliseconds, as the client sees them', '50 %', '95 %', '99 %', 'number'],
        rows: [
          line('`/v1/me/`, for comparison', index.meMs),
          line('timeline of a day', index.timelineMs),
          line('… of the server’s thread, CPU time', index.timelineCpuMs),
          line('`stream` and its first playlist', index.playlistMs),
          line('… and the first byte of its first picture', index.firstByteMs),
          line('seek: the group of pictures at another moment, whole', index.seekMs),
          line('`stream` without end from a random moment, and its first playlist', index.endlessMs),
          line('timeline of a day while footage is deleted', retention.timelineMs),
        ],
      },
      {
        head: ['', ''],
        rows: [
          ['index, MB', writeNumber(indexBytes / 1e6)],
          ['index, bytes a file', writeNumber(indexBytes / rows)],
          ['start of the server, ms', writeNumber(startMs)],
          ['first footage and newest of a camera, ms', writeNumber(median(index.infoMs))],
          ['files deleted', writeNumber(retention.segments)],
          ['… in steps', writeNumber(retention.steps)],
          ['… a second', writeNumber(retention.segments / retention.seconds)],
        ],
      },
    ],
    targets: [
      {
        key: 'rows',
        title: 'files in the index',
        value: rows,
        limit: Math.min(cameras, 100) * 43_000,
        kind: 'at least',
      },
      {
        key: 'timelineP99Ms',
        title: 'timeline of a day in the server (CPU time), 99 %, ms',
        value: percentile(index.timelineCpuMs, 99),
        limit: 5,
        kind: 'at most',
      },
      atMost('playlistP95Ms', 'stream to first playlist, 95 %, ms', percentile(index.playlistMs, 95), 100),
      atMost(
        'endlessPlaylistP95Ms',
        'stream without end to first playlist, 95 %, ms',
        percentile(index.endlessMs, 95),
        100,
      ),
      atMost('firstByteP95Ms', 'stream to first media byte, 95 %, ms', percentile(index.firstByteMs, 95), 300),
      atMost('seekP95Ms', 'seek, 95 %, ms', percentile(index.seekMs, 95), 150),
      atMost('retentionStepMs', 'step of retention, 95 %, ms', retention.stepP95Ms, 10),
      {
        key: 'retentionFilesPerSecond',
        title: 'files deleted a second',
        value: retention.segments / retention.seconds,
        limit: 500,
        kind: 'at least',
      },
    ],
    notes: [
      'CPU time of the thread that answers is what a timeline costs in the server, whatever else runs on the machine: SQLite reads in that thread, from the page cache. ' +
        'A step of retention marks a batch of rows as pending deletions. The main thread cannot answer requests for as long as the step takes.',
    ],
    details: { indexBytes, startMs, foreignCpuPercent, retention: { ...retention, timelineMs: undefined } },
  }
}

function atMost(key: string, title: string, value: number, limit: number) {
  return { key, title, value, limit, kind: 'at most' } as const
}
