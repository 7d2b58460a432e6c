// Storage reports and deletion commands, on a database as a server leaves it.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testMark } from '../../test/support/archive/one-place.ts'
import { runCommand } from '../../test/support/command-line.ts'
import { segmentPath } from '../archive/layout.ts'
import { openSecretKey } from '../auth/secret-key.ts'
import { lockFolder } from '../folder-lock.ts'
import { markFolder } from '../places/place-folder.ts'
import { databaseFile } from '../store/engine/database-file.ts'
import { openStore } from '../store/store.ts'

const dayMs = 86_400_000

/** A user with a camera that keeps a week, is not recorded at the moment, has two of each day of the last ten, and a limit of its size. */
async function openScene(t: TestContext) {
  const data = await mkdtemp(join(tmpdir(), 'nightjar-storage-'))
  t.after(() => rm(data, { recursive: true }))
  const archive = join(data, 'archive')
  await mkdir(archive)
  await markFolder(archive, testMark)
  const credentialsKey = (await openSecretKey(data)).deriveKey('camera credentials')
  await using store = await openStore({ database: databaseFile(data), credentialsKey, foreignIntervalMs: 0 })
  const { id: ownerId } = await store.users.insert({
    email: 'a@example.com',
    firstName: '',
    lastName: '',
    passwordHash: '!',
  })
  const source = { url: 'rtsp://camera.example/s', username: null, password: null }
  const camera = await store.cameras.insert({ ownerId, name: 'Door', type: 'h264', ...source })
  await store.recordings.enable(camera.id, { retention: 'P7D', maxBytes: null })
  await store.recordings.stop(camera.id)
  const paths: string[] = []
  for (let half = 20; half > 0; half--) {
    // Ten minutes beside the edge of a week, so that none of them grows too old while the test runs.
    const startMs = Date.now() - (half * dayMs) / 2 + 600_000
    const path = segmentPath(camera.id, startMs)
    paths.push(join(archive, path))
    await mkdir(dirname(join(archive, path)), { recursive: true })
    await writeFile(join(archive, path), Buffer.alloc(1_000_000))
    const id = await store.segments.insertOpen({
      ...{ cameraId: camera.id, startMs, path, runId: 'r', runStart90k: 0, placeId: 1, initBytes: 0, codecs: '' },
      ...{ width: 1, height: 1, initHash: '', gapReason: undefined },
    })
    await store.segments.close(id, { endMs: startMs + 60_000, bytes: 1_000_000, fragments: [] })
  }
  const run = (words: string) => runCommand(words.split(' '), { env: { NIGHTJAR_DATA: data, NIGHTJAR_MIN_FREE: '0' } })
  const countFiles = async () => {
    const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)))
    return found.filter((each) => each !== undefined).length
  }
  const open = () => openStore({ database: databaseFile(data), credentialsKey, foreignIntervalMs: 0 })
  return { archive, camera, ownerId, run, countFiles, open }
}

test('the dry run prints what would be deleted and why, and a real run deletes just that', async (t) => {
  const { archive, camera, run, countFiles } = await openScene(t)
  const byAge = await run('retention --dry-run --json')
  assert.deepEqual([byAge.json.segments, byAge.json.bytes, byAge.json.cameras[0].reasons], [6, 6_000_000, ['age']])
  assert.equal((await run(`camera record ${camera.id} --max-size 12MB --json`)).json.recording.max_bytes, 12_000_000)
  assert.match((await run('camera list')).stdout, / stopped P7D, at most /)
  assert.equal((await run('user limit a@example.com --max-size 9MB --json')).json.max_bytes, 9_000_000)
  const { json, stdout } = await run('retention --dry-run --json')
  assert.deepEqual(
    [json.dry_run, json.segments, json.bytes, json.cameras.length, json.cameras[0].reasons],
    [true, 11, 11_000_000, 1, ['age', 'camera_bytes', 'user_bytes']],
    stdout,
  )
  assert.match((await run('retention --dry-run')).stdout, /11 files, 11\.0 MB, would be deleted\.\n$/)
  assert.equal(await countFiles(), 20)

  const lock = lockFolder(archive)
  const refused = await run('retention --json')
  assert.deepEqual([refused.code, refused.json.error.kind], [1, 'conflict'])
  assert.match(refused.json.error.message, /another Nightjar server is running .* stop it first/)
  lock[Symbol.dispose]()
  const done = await run('retention --json')
  assert.deepEqual(done.json, {
    dry_run: false,
    segments: 11,
    bytes: 11e6,
    reasons: { age: 6, camera_bytes: 2, user_bytes: 3 },
  })
  assert.equal(await countFiles(), 9)
  assert.equal((await run('retention --dry-run')).stdout, 'Nothing would be deleted.\n')
})

test('an untrusted clock is reported, and deleting by hand makes the server trust it', async (t) => {
  const { run, countFiles, open } = await openScene(t)
  const writeTime = async (timeMs: number) => {
    await using store = await open()
    await store.trustedTimes.write({ timeMs, doubtedMs: 3_600_000, leastMs: 5 * dayMs })
  }
  await writeTime(Date.now() - 5 * dayMs)
  const { json } = await run('storage --json')
  const { ahead_seconds: ahead, remaining_seconds: remaining } = json.clock_doubt
  assert.ok(Math.abs(ahead - 5 * 86_400) < 120 && remaining === 23 * 3600, JSON.stringify(json.clock_doubt))
  const clockLine = /^Clock: moved forward by 5 days: .* is kept for another 23 hours\.$/m
  assert.match((await run('storage')).stdout, clockLine)
  const dry = await run('retention --dry-run')
  assert.match(dry.stdout, clockLine)
  assert.match(dry.stdout, /^6 files, /m)
  assert.equal((await run('retention --json')).json.segments, 6)
  assert.equal(await countFiles(), 14)
  assert.equal((await run('storage --json')).json.clock_doubt, null)
})

test('storage is reported with its rate, how far back footage will reach, and when it will be full', async (t) => {
  const { camera, ownerId, run } = await openScene(t)
  await run('user limit a@example.com --max-size 25MB')
  const { json } = await run('storage --json')
  assert.equal(json.used_bytes, 20_000_000)
  const [only] = json.cameras
  assert.deepEqual([only.id, only.used_bytes, only.bytes_per_day, only.retention_days], [camera.id, 20e6, 2e6, 7])
  assert.equal(only.forecast_days, 7)
  const limited = { id: ownerId, used_bytes: 20_000_000, max_bytes: 25_000_000, full_at: null }
  assert.deepEqual(json.users, [limited], 'its time is over before')
  const { stdout } = await run('storage')
  assert.match(stdout, /^1 +Door +20\.0 MB +2\.00 MB +\S+Z +7 days +7 days$/m)
  assert.match(stdout, /^a@example\.com: 20\.0 MB of 25\.0 MB$/m)
  assert.match(stdout, /^Disk: .* free, 0 B stay free/m)
  assert.match((await run('storage --archive /nowhere')).stdout, /^Disk: not known, the folder .* is missing/m)
})

test('invalid sizes and durations are rejected with a message', async (t) => {
  const { camera, run } = await openScene(t)
  const cases: [string, RegExp][] = [
    [`camera record ${camera.id} --retention P0D`, /no time at all/],
    [`camera record ${camera.id} --retention P1000000Y`, /years or months/],
    [`camera record ${camera.id} --retention P365000000D`, /longer than 100 years/],
    [`camera record ${camera.id} --max-size much`, /not a size such as 500GB/],
    [`camera record ${camera.id} --max-size 5kB`, /at least 1 MiB/],
    ['camera add --user a@example.com --name B --url rtsp://b.example/ --max-size 5GB', /requires --record/],
    ['camera add --user a@example.com --name B --url rtsp://b.example/ --record P1D --max-size 5', /at least 1 MiB/],
    ['user limit a@example.com --max-size -5GB', /argument is ambiguous|not a size/],
    ['user limit nobody@example.com --max-size 5GB', /there is no user/],
  ]
  for (const [words, reason] of cases) {
    const { code, json } = await run(`${words} --json`)
    assert.ok(code > 0, words)
    assert.match(json.error.message, reason, words)
  }
  const added = await run('camera add --user 1 --name B --url rtsp://b.example/ --record P1D --max-size 5GB --json')
  assert.deepEqual([added.json.recording.retention, added.json.recording.max_bytes], ['P1D', 5e9])
  assert.equal((await run(`camera record ${camera.id} --off`)).code, 0)
  assert.match(
    (await run(`camera record ${camera.id} --max-size 5GB --json`)).json.error.message,
    /specify --retention/,
  )
})
