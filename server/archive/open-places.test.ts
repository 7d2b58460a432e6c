import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openTemporaryStore } from '../../test/support/store/temporary-store.ts'
import { type Logger, silentLogger } from '../base/log.ts'
import { FolderFiles } from '../places/folder-files.ts'
import { markerName, readMark } from '../places/place-folder.ts'
import { addPlace, findPlaces, openPlaces } from './open-places.ts'

async function openScene(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'nightjar-places-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const { store } = await openTemporaryStore(t)
  const lines: unknown[] = []
  const note = (...line: unknown[]) => void lines.push(line)
  const log: Logger = { ...silentLogger, error: note, warn: note }
  const folder = (name: string) => join(root, name)
  for (const name of ['a', 'b', 'c']) await mkdir(folder(name))
  const start = async (...names: string[]) => {
    lines.splice(0)
    const archive = names.map((name) => ({ folder: folder(name), weight: 1 }))
    const { all } = await openPlaces(store.places, archive, store.segments, log)
    const found = await findPlaces(store.places, archive)
    assert.deepEqual(found.all, all, 'commands see the same')
    return Object.fromEntries(await Promise.all(all.map(async (place) => [place.id, await describe(place)])))
  }
  const describe = async (place: { folder: string; mark: string }) =>
    `${place.folder.slice(root.length + 1)} ${(await new FolderFiles(place).findState()).state}`
  /** As if something had been recorded. */
  const record = async (name: string, placeId: number) => {
    await mkdir(join(folder(name), 'cameras'), { recursive: true })
    const id = await store.segments.insertOpen({
      ...{
        cameraId: 1,
        placeId,
        path: `${name}.mp4`,
        startMs: 0,
        runId: 'r',
        runStart90k: 0,
        initBytes: 0,
        codecs: '',
      },
      ...{ width: 1, height: 1, initHash: '', gapReason: undefined },
    })
    await store.segments.close(id, { endMs: 1000, bytes: 10, fragments: [] })
  }
  return { folder, start, record, store, log: lines }
}

test('each folder becomes a place and stays the same one, also at another path', async (t) => {
  const { folder, start, record } = await openScene(t)
  assert.deepEqual(await start('a', 'b'), { 1: 'a ready', 2: 'b ready' })
  await record('a', 1)
  await record('b', 2)
  assert.deepEqual(await start('b', 'a'), { 1: 'a ready', 2: 'b ready' })
  await rename(folder('b'), folder('elsewhere'))
  assert.deepEqual(await start('a', 'elsewhere'), { 1: 'a ready', 2: 'elsewhere ready' })
  await rename(folder('a'), folder('moved'))
  assert.deepEqual(await start('moved'), { 1: 'moved ready', 2: 'elsewhere ready' })
  assert.deepEqual(await start('c', 'moved'), { 1: 'moved ready', 2: 'elsewhere ready', 3: 'c ready' })
})

test('a server that is renamed keeps the folders that were added by a command', async (t) => {
  const { folder, store } = await openScene(t)
  const archive = [{ folder: folder('a'), weight: 1 }]
  const open = (node: string) => openPlaces(store.places, archive, store.segments, silentLogger, { node })
  const add = (name: string, node?: string) => addPlace(store.places, { folder: folder(name), weight: 1 }, { node })
  await open('box')
  await add('b', 'box')
  await add('c', 'n2')
  await add('d')
  const { all } = await open('n1')
  assert.deepEqual(
    all.map((place) => [place.folder, place.node]),
    ['a', 'b', 'd'].map((name) => [folder(name), 'n1']),
  )
  assert.deepEqual(
    (await store.places.list()).map(({ node }) => node),
    ['n1', 'n1', 'n2', 'n1'],
  )
  // A disk that was taken to another machine is of that one, and what stayed is not.
  await rm(join(folder('b'), markerName))
  assert.deepEqual(
    (await open('n3')).all.map((place) => place.folder),
    ['a', 'd'].map(folder),
  )
})

test('a new first folder is a new place while the old one is there, and takes its role after a restore', async (t) => {
  const { folder, start, record, log } = await openScene(t)
  await start('a')
  await record('a', 1)
  assert.deepEqual(await start('b'), { 1: 'a ready', 2: 'b ready' })
  await rm(folder('a'), { recursive: true })
  assert.deepEqual(await start('c'), { 1: 'c away', 2: 'b ready' })
  assert.match(JSON.stringify(log), /is empty: is its disk mounted/)
  await mkdir(join(folder('c'), 'cameras'))
  assert.deepEqual(await start('c'), { 1: 'c ready', 2: 'b ready' }, 'files were put there by hand')
})

test('disks that are swapped, missing or of others are neither marked nor mixed', async (t) => {
  const { folder, start, record, log, store } = await openScene(t)
  await start('a', 'b')
  await record('a', 1)
  for (const name of ['a', 'b']) await rename(folder(name), folder(`${name}-real`))
  for (const name of ['a', 'b']) await mkdir(folder(name))
  assert.deepEqual(await start('a', 'b'), { 1: 'a away', 2: 'b away' })
  assert.equal(await readMark(folder('b')), undefined, 'an empty mount point, also of a place without recordings')
  await rm(folder('a'), { recursive: true })
  await rm(folder('b'), { recursive: true })
  await rename(folder('a-real'), folder('b'))
  await rename(folder('b-real'), folder('a'))
  assert.deepEqual(await start('a', 'b'), { 1: 'b ready', 2: 'a ready' }, 'each disk is known by its mark')

  await writeFile(join(folder('c'), markerName), `Mark: ${'e'.repeat(32)}\n`)
  assert.deepEqual(await start('a', 'b', 'c'), { 1: 'b ready', 2: 'a ready' })
  assert.match(JSON.stringify(log), /belongs to another installation/)
  assert.equal(await readMark(folder('c')), 'e'.repeat(32))
  await cp(folder('b'), folder('copy'), { recursive: true })
  await start('a', 'b', 'copy')
  assert.match(JSON.stringify(log), /copy is place 1 already/)
  await assert.rejects(addPlace(store.places, { folder: folder('c'), weight: 1 }), { kind: 'conflict' })
  await assert.rejects(addPlace(store.places, { folder: folder('a'), weight: 1 }), /is place 2 already/)
})

test('an archive of a version without marks, or of a lost database, is taken as it is', async (t) => {
  const { folder, start } = await openScene(t)
  await writeFile(join(folder('a'), markerName), 'This folder holds the recordings of a Nightjar server.\n')
  await mkdir(join(folder('a'), 'cameras'))
  assert.deepEqual(await start('a'), { 1: 'a ready' })
  const text = await readFile(join(folder('a'), markerName), 'utf8')
  assert.match(text, /^Mark: [0-9a-f]{32}$/m)
  const { start: startAnew, folder: other } = await openScene(t)
  await rm(other('a'), { recursive: true })
  await rename(folder('a'), other('a'))
  assert.deepEqual(await startAnew('a'), { 1: 'a ready' })
  assert.equal(await readFile(join(other('a'), markerName), 'utf8'), text)
})
