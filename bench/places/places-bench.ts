// What it costs to keep recordings in a bucket: the first byte and a seek from the disk and from a real store, with one
// viewer and with many, uploads, and requests. How and why: docs/design/benchmarks.md.

import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../test/fake-camera/scene/random.ts'
import { parsePlaylist, type ReadEntry } from '../../test/playback/parse-playlist.ts'
import { openS3Store, type S3Store, whyNoStore } from '../../test/s3/s3-store.ts'
import { eventually, openServerWith, type ServerProcess } from '../../test/server-under-test.ts'
import { fillArchive, type Generated } from '../archive/generate-archive.ts'
import { openTimedClient, type TimedClient } from '../archive/timed-client.ts'
import type { Bench } from '../bench.ts'
import { readCpuMs } from '../process-usage.ts'
import { describeMachine, type Report, writeNumber } from '../report.ts'
import { median, percentile } from '../statistics.ts'

const moments = 60
const viewers = 20
const seeks = 10
/** Between the server and the store, as to a provider in the same country. */
const roundTripMs = 20
const streamMs = 3 * 3_600_000

export const placesBench: Bench = {
  name: 'places',
  summary: 'plays from a bucket and from the disk, and uploads',
  help: `npm run bench -- places [options]

  --json       prints one JSON object and nothing else`,
  defaults: {},
  async run({ say }) {
    const why = whyNoStore()
    if (why) throw new Error(why)
    await using store = await openS3Store()
    await using server = await openServerWith(
      store.environment,
      ...['--log-level', 'warn', '--rate-limit', '0', '--min-free', '0', '--memory-mb', '4096'],
    )
    Object.assign(process.env, store.environment)
    const { ids, generated } = await fillArchive(server, {
      ...{ cameras: 1, days: 1, doomed: { cameras: 0, lengthMs: 0 }, say },
      // Two megabytes a minute.
      picture: { width: 240, height: 136 },
    })
    await server.start()
    const target: Target = { server, cameraId: ids[0]!, generated, random: createRandom(1) }
    say('From the disk …')
    const disk = await measurePlaying(target)
    say('Uploading …')
    const upload = await measureUpload(server, store)
    store.setFault(() => ({ kind: 'delay', ms: roundTripMs }))
    say('From the bucket …')
    const bucket = await measurePlaying({ ...target, random: createRandom(2) }, store)
    return createReport({ disk, bucket, upload })
  },
}

type Target = {
  readonly server: ServerProcess
  readonly cameraId: number
  readonly generated: Generated
  readonly random: () => number
}

type Playing = {
  readonly firstByteMs: readonly number[]
  readonly seekMs: readonly number[]
  /** With many viewers at once. */
  readonly manyFirstByteMs: readonly number[]
  readonly manySeekMs: readonly number[]
  /** To the store, for an entry that was played. */
  readonly requestsPerEntry: number
}

async function measurePlaying(target: Target, store?: S3Store): Promise<Playing> {
  using client = openTimedClient(target.server.ca)
  store?.requests.splice(0)
  const alone = await playMoments(target, client, moments)
  const requests = (store?.requests.length ?? 0) / (moments * (1 + seeks))
  const many = await Promise.all(
    Array.from({ length: viewers }, async () => {
      using own = openTimedClient(target.server.ca)
      return await playMoments(target, own, Math.ceil(moments / viewers))
    }),
  )
  return {
    ...alone,
    manyFirstByteMs: many.flatMap(({ firstByteMs }) => firstByteMs),
    manySeekMs: many.flatMap(({ seekMs }) => seekMs),
    requestsPerEntry: requests,
  }
}

/** A stream at a random moment: to the first byte of its first entry; then jumps to random entries. */
async function playMoments(target: Target, client: TimedClient, count: number) {
  const { server, cameraId, generated, random } = target
  const firstByteMs: number[] = []
  const seekMs: number[] = []
  const play = async (url: string, { uri, offset, bytes }: ReadEntry) => {
    const range = `bytes=${offset}-${offset + bytes - 1}`
    const answer = await client.count(new URL(uri, url).href, { range })
    if (answer.bytes !== bytes) throw new Error(`expected ${bytes} bytes, got ${answer.bytes} with ${answer.status}`)
    return answer.firstByteMs
  }
  const time = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')
  for (let i = 0; i < count; i++) {
    const { startMs, endMs } = generated
    const fromMs = Math.floor((startMs + random() * (endMs - startMs - streamMs)) / 1000) * 1000
    const path = `/v1/cameras/${cameraId}/recording/stream/?start=${time(fromMs)}&end=${time(fromMs + streamMs)}`
    const begunMs = performance.now()
    const answer = await client.get(new URL(path, server.url).href, {
      authorization: `PersonalAccessToken ${server.token}`,
    })
    const { url } = JSON.parse(answer.body.toString()) as { url: string }
    const { entries } = parsePlaylist((await client.get(url)).body.toString())
    const askedMs = performance.now()
    firstByteMs.push(askedMs - begunMs + (await play(url, entries[0]!)))
    for (let n = 0; n < seeks; n++) seekMs.push(await play(url, entries[Math.floor(random() * entries.length)]!))
  }
  return { firstByteMs, seekMs }
}

type Upload = { readonly bytesPerSecond: number; readonly cpuMsPerMb: number; readonly requestsPerFile: number }

async function measureUpload(server: ServerProcess, store: S3Store): Promise<Upload> {
  const readBytes = async () => {
    const { places } = await server.command<{ places: { used_bytes: number }[] }>('place', 'list')
    const [local = 0, uploaded = 0] = places.map((place) => place.used_bytes)
    return { local, uploaded }
  }
  store.requests.splice(0)
  const cpuMs = await readCpuMs([server.pid])
  await server.command('place', 'add', store.url('bench'))
  await eventually('the first upload', 30_000, async () => (await readBytes()).uploaded > 0)
  const [beginMs, begin] = [performance.now(), await readBytes()]
  let now = begin
  for (; now.local > 0; now = await readBytes()) {
    if (performance.now() - beginMs > 300_000) throw new Error(`${now.local} bytes were not uploaded in five minutes`)
    await sleep(500)
  }
  const seconds = (performance.now() - beginMs) / 1000
  const bytes = now.uploaded
  const files = store.requests.filter((each) => each.startsWith('PUT ')).length
  return {
    bytesPerSecond: (bytes - begin.uploaded) / seconds,
    cpuMsPerMb: ((await readCpuMs([server.pid])) - cpuMs) / (bytes / 1e6),
    requestsPerFile: store.requests.length / files,
  }
}

function createReport({ disk, bucket, upload }: { disk: Playing; bucket: Playing; upload: Upload }): Report {
  const p95 = (values: readonly number[]) => percentile(values, 95)
  const row = (title: string, { firstByteMs, seekMs, manyFirstByteMs, manySeekMs }: Playing) => [
    title,
    ...[firstByteMs, seekMs, manyFirstByteMs, manySeekMs].flatMap((times) => [
      writeNumber(median(times)),
      writeNumber(p95(times)),
    ]),
  ]
  return {
    name: 'places',
    title: 'Recordings on a disk and in a bucket',
    setting: [
      `${describeMachine()}. A day of a camera, 1,437 files of a minute, in Ceph's radosgw (in memory) on the same machine. For playing, a proxy adds ${roundTripMs} ms to each request.`,
      `First byte: from nothing to the first byte of the first entry of a stream of three hours at a random moment, three requests. Seek: to the first byte of a random entry of it, mostly in a file that was not read before. ${moments} streams, ${seeks} seeks in each; with ${viewers} viewers at once, each its own streams.`,
    ],
    tables: [
      {
        head: [
          'from',
          ...['first byte', 'seek', `first byte, ${viewers} viewers`, `seek, ${viewers} viewers`].flatMap((what) => [
            `${what}, median, ms`,
            '95 %',
          ]),
        ],
        rows: [row('disk', disk), row('bucket', bucket)],
      },
      {
        head: ['upload, MB/s', 'CPU, ms for each MB', 'requests for each file', 'requests for each entry played'],
        rows: [
          [
            writeNumber(upload.bytesPerSecond / 1e6),
            writeNumber(upload.cpuMsPerMb),
            writeNumber(upload.requestsPerFile),
            writeNumber(bucket.requestsPerEntry),
          ],
        ],
      },
    ],
    targets: [
      {
        key: 'bucket_first_byte_p95_ms',
        title: 'first byte from the bucket, 95 %, ms: 300 and two round trips',
        value: p95(bucket.firstByteMs),
        limit: 300 + 2 * roundTripMs,
        kind: 'at most',
      },
      {
        key: 'bucket_seek_p95_ms',
        title: 'seek in the bucket, 95 %, ms: 150 and one round trip',
        value: p95(bucket.seekMs),
        limit: 150 + roundTripMs,
        kind: 'at most',
      },
    ],
    notes: [
      `A camera closes 60 files an hour, so it makes ${writeNumber(60 * upload.requestsPerFile)} requests an hour for its uploads.`,
    ],
    details: {
      disk_first_byte_p95_ms: p95(disk.firstByteMs),
      disk_seek_p95_ms: p95(disk.seekMs),
      bucket_first_byte_many_p95_ms: p95(bucket.manyFirstByteMs),
      bucket_seek_many_p95_ms: p95(bucket.manySeekMs),
      upload_mb_per_second: upload.bytesPerSecond / 1e6,
      upload_cpu_ms_per_mb: upload.cpuMsPerMb,
      upload_requests_per_camera_hour: 60 * upload.requestsPerFile,
      requests_per_entry: bucket.requestsPerEntry,
    },
  }
}
