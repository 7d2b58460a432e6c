// Commands beside several servers that have a folder each, at the same path of their machines: they touch only the one
// that is on this machine.

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { Membership } from '../../server/api/peers/membership.ts'
import { segmentPath } from '../../server/archive/layout.ts'
import { openSecretKey } from '../../server/auth/secret-key.ts'
import { systemClock } from '../../server/base/clock.ts'
import { silentLogger } from '../../server/base/log.ts'
import { createMark, markFolder } from '../../server/places/place-folder.ts'
import { openStore } from '../../server/store/store.ts'
import { runCommand } from '../support/command-line.ts'
import { testPostgres } from './each-database.ts'
import type { TemporaryPostgres } from './temporary-postgres.ts'

const minuteMs = 60_000
const fileBytes = 10_000_000

/** Three files of a camera on n1, where the commands run, and four rows of files on n2, of which one is open. */
async function openScene(t: TestContext, postgres: TemporaryPostgres) {
  const data = await mkdtemp(join(tmpdir(), 'nightjar-servers-'))
  t.after(() => rm(data, { recursive: true }))
  const database = await postgres.createDatabase()
  const credentialsKey = (await openSecretKey(data)).deriveKey('camera credentials')
  const store = await openStore({ database, credentialsKey, foreignIntervalMs: 0 })
  t.after(() => store.close())
  const folder = join(data, 'archive')
  await mkdir(folder)
  const [mark, otherMark] = [createMark(), createMark()]
  await markFolder(folder, mark)
  await store.places.add({ folder, mark, weight: 1, node: 'n1' })
  await store.places.add({ folder, mark: otherMark, weight: 1, node: 'n2' })
  const person = { email: 'a@example.com', firstName: '', lastName: '', passwordHash: '!' }
  const { id: ownerId } = await store.users.insert(person)
  const source = { url: 'rtsp://camera.example/s', username: null, password: null }
  const { id: cameraId } = await store.cameras.insert({ ownerId, name: 'Door', type: 'h264', ...source })
  await store.recordings.enable(cameraId, { retention: 'P7D', maxBytes: null })
  const add = async (placeId: number, minutesAgo: number, { isOpen = false } = {}) => {
    const startMs = Date.now() - minutesAgo * minuteMs
    const path = segmentPath(cameraId, startMs)
    if (placeId === 1) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), Buffer.alloc(fileBytes))
    }
    const id = await store.segments.insertOpen({
      ...{ cameraId, startMs, path, runId: 'r', runStart90k: 0, placeId, initBytes: 0, codecs: '' },
      ...{ width: 1, height: 1, initHash: '', gapReason: undefined },
    })
    if (!isOpen) await store.segments.close(id, { endMs: startMs + minuteMs, bytes: fileBytes, fragments: [] })
    return path
  }
  const paths = [await add(1, 70), await add(1, 69), await add(1, 68)]
  for (const minutesAgo of [67, 66, 65]) await add(2, minutesAgo)
  await add(2, 64, { isOpen: true })
  const env = { NIGHTJAR_DATA: data, NIGHTJAR_DATABASE: database, NIGHTJAR_NODE_NAME: 'n1', NIGHTJAR_MIN_FREE: '0' }
  const startN2 = () =>
    Membership.join({
      ...{ rows: store.nodes, leases: store.leases, clock: systemClock, log: silentLogger },
      self: {
        name: 'n2',
        holder: 'on n2',
        address: '127.0.0.1:8444',
        hasCameras: true,
        processors: 2,
        version: '1.0.0',
      },
    })
  const run = (words: string) => runCommand(words.split(' '), { env })
  const countRows = async (placeId: number) =>
    (await store.segments.listFiles(cameraId, 0, Date.now())).filter((file) => file.placeId === placeId).length
  const expire = () => postgres.query('update nodes set expires_ms = expires_ms - 10000', database)
  return { folder, otherMark, paths, startN2, expire, run, countRows }
}

testPostgres('only the folder of this server is checked and repaired', async (t, postgres) => {
  const { folder, paths, run, countRows } = await openScene(t, postgres)
  const checked = await run('check --json')
  assert.deepEqual([checked.code, checked.json.ok, checked.json.files], [0, true, 3], checked.stdout)
  assert.deepEqual(checked.json.not_checked, [{ id: 2, folder, server: 'n2' }])
  assert.match((await run('check')).stdout, new RegExp(`^not checked: place 2, ${folder} of the server n2$`, 'm'))

  await rm(join(folder, paths[0]!))
  const fixed = await run('check --fix --forget-missing')
  assert.match(fixed.stdout, new RegExp(`^${paths[0]}: missing, forgotten`, 'm'), fixed.stderr)
  assert.deepEqual([await countRows(1), await countRows(2)], [2, 4])
  assert.ok(!(await readdir(folder)).includes('set-aside'))
})

testPostgres('space and places of this server are told apart from those of others', async (t, postgres) => {
  const { folder, run, countRows } = await openScene(t, postgres)
  const { stdout } = await run('place list')
  assert.match(stdout, /^1 .* ready +30\.0 MB +\S+ \S+ of .*\n2 .* of the server n2 +30\.0 MB *$/m)
  const { places, other_servers: others } = (await run('place list --json')).json
  assert.deepEqual([places.length, others], [1, [{ id: 2, folder, server: 'n2', used_bytes: 3 * fileBytes }]])
  assert.match((await run('storage')).stdout, /^Disk: .* free/m)
  const { json, stdout: reported } = await run('storage --archive-max 70MB --json')
  assert.deepEqual([json.used_bytes, json.cameras?.[0].used_bytes], [3 * fileBytes, 6 * fileBytes], reported)
  // 40 MB are left, and this server has recorded 30 MB in 70 minutes.
  const minutesLeft = (Date.parse(json.full_at) - Date.now()) / minuteMs
  assert.ok(minutesLeft > 85 && minutesLeft < 95, `${minutesLeft}`)
  assert.match((await run('storage --node-name n3 --archive /nowhere')).stdout, /^All recordings: 0 B$/m)
  assert.equal((await run('retention --json')).code, 0)
  assert.deepEqual([await countRows(1), await countRows(2)], [3, 4])

  const elsewhere = /place 2, .* is a folder of the server n2: run this command there/
  for (const words of ['place drain 2', 'archive move --from 2', 'archive move --from 1 --to 2'])
    assert.match((await run(words)).stderr, elsewhere, words)
  assert.match((await run('place drain 1')).stderr, /the only place that takes recordings/)
})

testPostgres('what was on a server that will not come back can be forgotten', async (t, postgres) => {
  const { startN2, expire, run, countRows } = await openScene(t, postgres)
  await using _ = await startN2()
  assert.match((await run('place remove 2 --forget-recordings')).stderr, /server n2, which is running/)
  await expire()
  assert.match((await run('node remove n2')).stdout, /^Forgot n2\. Its recordings in place 2 stay listed; /)
  assert.match((await run('place remove 1 --forget-recordings')).stderr, /is a place of this server/)
  assert.match((await run('place remove 2')).stderr, /holds 30\.0 MB .* forget them with --forget-recordings/)
  assert.equal(await countRows(2), 4)
  const { json, stderr } = await run('place remove 2 --forget-recordings --json')
  assert.equal(json.forgotten_files, 4, stderr)
  assert.deepEqual([await countRows(1), await countRows(2)], [3, 0])
  assert.deepEqual((await run('place list --json')).json.other_servers, [])
  assert.equal((await run('check --json')).json.ok, true)
})

testPostgres('the disk of a server that is gone can be used in another one', async (t, postgres) => {
  const { folder, otherMark, startN2, expire, run } = await openScene(t, postgres)
  const disk = `${folder}-of-n2`
  await mkdir(disk)
  await markFolder(disk, otherMark)
  await using _ = await startN2()
  assert.match((await run(`place add ${disk}`)).stderr, /is place 2 of the server n2, which is running/)
  await expire()
  const added = await run(`place add ${disk}`)
  assert.match(
    added.stdout,
    /^Place 2, which was a folder of the server n2, is .*-of-n2 of n1 now\. .* 50 % to place 2\.$/m,
  )
  const { places, other_servers: others } = (await run('place list --json')).json
  assert.deepEqual(
    places.map((place: { folder: string; state: string }) => [place.folder, place.state]),
    [
      [folder, 'ready'],
      [disk, 'ready'],
    ],
  )
  assert.deepEqual(others, [])
  assert.match((await run(`place add ${disk}`)).stderr, /is place 2 already/)
})
