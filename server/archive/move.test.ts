import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { createPlace } from '../../test/support/archive/one-place.ts'
import { dayMs, laterClock, minuteMs, openPlace, record, t0 } from '../../test/support/archive/temporary-archive.ts'
import { markFolder } from '../places/place-folder.ts'
import { Places } from '../places/places.ts'
import { Catalog } from './catalog.ts'
import { checkArchive, isClean } from './check.ts'
import { fixArchive } from './fix.ts'
import { nextPath } from './layout.ts'
import { type MoveOptions, moveRecordings, removeUnfinishedCopies } from './move.ts'

/** Two places, and files of two cameras in the first. */
async function openScene(files = 4) {
  const place = await openPlace(laterClock)
  const second = await mkdtemp(join(tmpdir(), 'nightjar-archive-'))
  after(() => rm(second, { recursive: true, force: true }))
  const mark = 'f'.repeat(32)
  await markFolder(second, mark)
  const [from, to] = [createPlace(place.archiveDir), createPlace(second, { id: 2, mark })]
  const context = { ...place.context, places: new Places([from, to]) }
  const made: (Awaited<ReturnType<typeof record>> & { readonly content: Buffer })[] = []
  for (let i = 0; i < files; i++) {
    const recorded = await record(place, place.catalog, t0 + i * minuteMs, 2, { cameraId: 1 + (i % 2) })
    recorded.close()
    made.push({ ...recorded, content: await readFile(recorded.path) })
  }
  await place.catalog.flush()
  const options: MoveOptions = {
    ...context,
    owner: 'command',
    from,
    targets: [to],
    minFreeBytes: 0,
    bytesPerSecond: 1e12,
  }
  const isInOrder = async (expected = files) => {
    const report = await checkArchive({ ...context, isDeep: true })
    assert.ok(isClean(report), JSON.stringify(report))
    assert.equal(report.files, expected)
    assert.deepEqual(await place.rows.listPendingDeletions(9), [])
    const rows = [1, 2].map((cameraId) => place.rows.listBetween(cameraId, 0, t0 + dayMs))
    const found = (await Promise.all(rows)).flat().sort((a, b) => a.startMs - b.startMs)
    assert.equal(found.length, made.length)
    for (const [i, segment] of found.entries()) {
      const content = await readFile(context.places.pathOf(segment))
      // A repair adds an index at the end.
      assert.deepEqual(content.subarray(0, made[i]!.content.length), made[i]!.content)
    }
  }
  const placesOf = () => place.rows.all.map(({ placeId }) => placeId)
  return { ...place, context, second, made, options, isInOrder, placesOf }
}

test('all files move, or those of one camera, or those that are old enough', async () => {
  const { options, isInOrder, placesOf, catalog, context, made } = await openScene()
  const [before] = await catalog.listSegments(1, 0, t0 + dayMs)
  await using open = await catalog.open(before!)
  assert.equal((await moveRecordings({ ...options, cameraId: 2 })).files, 2)
  assert.deepEqual(placesOf(), [1, 2, 1, 2])
  assert.equal((await moveRecordings({ ...options, endedByMs: () => t0 + minuteMs })).files, 1)
  assert.deepEqual(placesOf(), [2, 2, 1, 2])
  const rest = await moveRecordings(options)
  assert.deepEqual([rest.files, rest.bytes, rest.failed], [1, made[2]!.content.length, []])
  await isInOrder()
  const content = new Uint8Array(made[0]!.content.length)
  await open.read(content, 0, content.length, 0)
  assert.deepEqual(Buffer.from(content), made[0]!.content, 'who plays it goes on')
  const moved = new Catalog(context)
  await using again = await moved.open(before!)
  assert.equal((await again.stat()).size, content.length, 'who knows only the old place finds it')
})

/** Ends a move as kill -9 would, at each of its steps. */
const deaths = {
  'while copying': async ({ second, made }: Awaited<ReturnType<typeof openScene>>) => {
    const path = join(second, nextPath(made[0]!.segment.path, 'command'))
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, made[0]!.content.subarray(0, 700))
  },
  'before the copy has a byte': async ({ second, made }) => {
    const path = join(second, nextPath(made[0]!.segment.path, 'command'))
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, '')
  },
  'before the index names the copy': async ({ second, made, rows }) => {
    await rows.beginCopy({ placeId: 2, path: nextPath(made[0]!.segment.path, 'command') }, 'command')
    const path = join(second, nextPath(made[0]!.segment.path, 'command'))
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, made[0]!.content)
  },
  'before the original is deleted': async (scene) => {
    await deaths['before the index names the copy']!(scene)
    const [segment] = scene.rows.all
    assert.ok(await scene.rows.move(segment!.id, segment!, { placeId: 2, path: nextPath(segment!.path, 'command') }))
  },
} satisfies Record<string, (scene: Awaited<ReturnType<typeof openScene>>) => Promise<void>>

for (const [when, die] of Object.entries(deaths)) {
  test(`a move that is killed ${when} is continued by the next one`, async () => {
    const scene = await openScene()
    await die(scene)
    const { failed } = await moveRecordings(scene.options)
    assert.deepEqual(failed, [])
    assert.deepEqual(scene.placesOf(), [2, 2, 2, 2])
    assert.deepEqual(
      scene.rows.all.map(({ path }) => path),
      scene.made.map(({ segment }) => nextPath(segment.path, 'command')),
    )
    await scene.isInOrder()
  })

  test(`a move that is killed ${when} and not continued leaves nothing twice after a repair`, async () => {
    const scene = await openScene()
    await die(scene)
    const cameras = [1, 2].map((id) => ({ id, createdAtMs: 0 }))
    await new Catalog(scene.context).repairOpen(cameras)
    await fixArchive({ ...scene.context, cameras, forgetsMissing: false })
    await scene.isInOrder()
  })
}

test('what cannot be moved stays where it is, is named, and stops nothing else', async () => {
  const { options, made, placesOf, second } = await openScene()
  await truncate(made[1]!.path, 900)
  await rm(made[2]!.path)
  const { files, failed } = await moveRecordings(options)
  assert.equal(files, 2)
  assert.deepEqual(
    failed.map(({ path }) => path),
    [made[2]!.segment.path, made[1]!.segment.path],
  )
  assert.match(failed[1]!.detail, /has 900 bytes, the index says .*nightjar check/)
  assert.deepEqual(placesOf(), [2, 1, 1, 2])
  await assert.rejects(stat(join(second, made[1]!.segment.path)), { code: 'ENOENT' })
})

test('a file of another recording with the same name is not touched', async () => {
  const { options, made, second, rows, isInOrder } = await openScene(1)
  const path = join(second, nextPath(made[0]!.segment.path, 'command'))
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'something else')
  await moveRecordings(options)
  assert.match(rows.all[0]!.path, /-4\.mp4$/)
  assert.equal(await readFile(path, 'utf8'), 'something else')
  await rm(path)
  await isInOrder()
})

test('a place that is away or full ends the move, and nothing is deleted', async () => {
  const { options, second, made } = await openScene()
  await assert.rejects(moveRecordings({ ...options, minFreeBytes: Number.MAX_SAFE_INTEGER }), {
    kind: 'unavailable',
    message: /no room .* is full/,
  })
  await rm(second, { recursive: true })
  await assert.rejects(moveRecordings(options), { kind: 'unavailable' })
  for (const { path, content } of made) assert.deepEqual(await readFile(path), content)
})

test('recordings that retention deletes meanwhile do not come back', async () => {
  const { options, rows, made, second, context } = await openScene(1)
  const move = rows.move.bind(rows)
  rows.move = async (id, from, to) => {
    await rows.remove((await rows.markPendingDeletions([id])).map((each) => each.id))
    await rm(made[0]!.path)
    return move(id, from, to)
  }
  assert.equal((await moveRecordings(options)).files, 0)
  await assert.rejects(stat(join(second, made[0]!.segment.path)), { code: 'ENOENT' })
  assert.ok(isClean(await checkArchive(context)))
})

test('the name of a file differs in each place that it was ever in', async () => {
  const { options, rows, made, isInOrder } = await openScene(1)
  const back = { ...options, from: options.targets[0]!, targets: [options.from] }
  for (const each of [options, back, options, back]) assert.equal((await moveRecordings(each)).files, 1)
  assert.equal(rows.all[0]!.path, made[0]!.segment.path.replace('.mp4', '-8.mp4'))
  await isInOrder()
})

test('what a killed move has begun is deleted by the next one of the same owner, also if it moves something else', async () => {
  const scene = await openScene()
  await deaths['before the index names the copy'](scene)
  await removeUnfinishedCopies(scene.context, 'server')
  const copy = join(scene.second, nextPath(scene.made[0]!.segment.path, 'command'))
  await stat(copy)
  assert.ok(isClean(await checkArchive(scene.context)), 'it may be in progress')
  await removeUnfinishedCopies(scene.context, 'command')
  await assert.rejects(stat(copy), { code: 'ENOENT' })
  assert.deepEqual(await scene.rows.listCopies(), [])
  await moveRecordings(scene.options)
  assert.deepEqual(await scene.rows.listCopies(), [])
  await scene.isInOrder()
})
