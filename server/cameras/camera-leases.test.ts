import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../../test/support/test-clock.ts'
import { silentLogger } from '../base/log.ts'
import { placeCamera } from '../model/placement.ts'
import type { LeaseRow } from '../store/server/leases.ts'
import { CameraLeases } from './camera-leases.ts'

const ids = Array.from({ length: 20 }, (_, i) => i + 1)
const byNumber = (a: number, b: number) => a - b
const isOf = (name: string, of: readonly string[]) => (id: number) =>
  placeCamera(
    id,
    of.map((each) => ({ name: each, labels: [], processors: 2 })),
  )?.server === name

const named = (...names: string[]) => names.map((name) => ({ name, processors: 2 }))

/** Server n1 beside n2, which has all cameras at first. The rows are those of a database that takes what is asked for. */
function openScene() {
  const clock = new TestClock(0)
  const rows = new Map<number, LeaseRow>()
  const give = (cameraId: number, node: string) => {
    const epoch = (rows.get(cameraId)?.epoch ?? 0) + 1
    rows.set(cameraId, { cameraId, node, incarnation: `${node} run`, epoch, takenMs: 0, isHeld: true })
  }
  for (const id of ids) give(id, 'n2')
  const servers = {
    withCameras: named('n1', 'n2'),
    isSteady: true,
    isAlive: (incarnation: string) => servers.withCameras.some(({ name }) => incarnation === `${name} run`),
    noteLeases: () => {},
  }
  const cameras = new Set(ids)
  const settings = new Map([['n2', { isDraining: false, labels: [] }]])
  const warnings: unknown[] = []
  const changes: number[] = []
  const leases = new CameraLeases({
    rows: {
      list: async () => [...rows.values()],
      take: async ({ name }, wanted) => {
        return wanted.map((id) => {
          const before = rows.get(id)?.node
          give(id, name)
          if (scene.isLosingAnswers) throw new Error('the connection was lost')
          return { ...rows.get(id)!, before }
        })
      },
      release: async (given) => {
        if (scene.isAway) throw new Error('the database is away')
        for (const { cameraId } of given) rows.set(cameraId, { ...rows.get(cameraId)!, incarnation: '', isHeld: false })
      },
    },
    placements: { listServers: async () => settings, listCameras: async () => new Map() },
    listCameras: async () => [...cameras],
    self: { name: 'n1', incarnation: 'n1 run' },
    servers,
    clock,
    log: { ...silentLogger, warn: (...line: unknown[]) => void warnings.push(line) },
  })
  leases.onChange((changed) => void changes.push(...changed))
  const scene = {
    leases,
    rows,
    servers,
    cameras,
    settings,
    clock,
    give,
    warnings,
    changes,
    isAway: false,
    isLosingAnswers: false,
  }
  return scene
}

test('what a living server has is left alone; of one that is gone, its cameras are taken once others could report', async () => {
  const { leases, servers, warnings } = openScene()
  await leases.update()
  assert.deepEqual(leases.ids(), [])
  servers.withCameras = named('n1')
  servers.isSteady = false
  await leases.update()
  assert.deepEqual(leases.ids(), [])
  servers.isSteady = true
  await leases.update()
  assert.deepEqual(leases.ids(), ids)
  assert.equal(leases.find(1)!.gapReason, 'node_lost')
  assert.deepEqual(warnings, [])
})

test('cameras are given to a server that has come, a few at a time, once it has been there for a while', async () => {
  const { leases, servers, clock, changes } = openScene()
  servers.withCameras = named('n1')
  await leases.update()
  servers.withCameras = named('n1', 'n2')
  changes.length = 0
  await leases.update()
  await clock.advance(29_000)
  await leases.update()
  assert.deepEqual(changes, [])
  await clock.advance(2000)
  const moved = ids.filter(isOf('n2', ['n1', 'n2']))
  assert.ok(moved.length > 3)
  for (let i = 0; i < moved.length; i += 3) {
    await leases.update()
    const some = moved.slice(i, i + 3)
    assert.deepEqual(changes.splice(0), some)
    await leases.update()
    assert.deepEqual(changes, [], 'these first')
    for (const cameraId of some) {
      assert.equal(leases.find(cameraId), undefined)
      leases.giveBack(cameraId)
    }
  }
  await leases.update()
  assert.deepEqual(leases.ids(), ids.filter(isOf('n1', ['n1', 'n2'])))
})

test('a camera that cannot be given back is given back later, and is not kept', async () => {
  const scene = openScene()
  const { leases, rows, servers, changes } = scene
  servers.withCameras = named('n1')
  await leases.update()
  servers.withCameras = named('n1', 'n2')
  scene.settings.set('n1', { isDraining: true, labels: [] })
  changes.length = 0
  await leases.update()
  const moved = changes.splice(0)
  assert.equal(moved.length, 3)
  for (const id of moved) leases.giveBack(id)
  scene.isAway = true
  await assert.rejects(leases.update(), /away/)
  scene.isAway = false
  await leases.update()
  assert.deepEqual(
    moved.map((id) => [rows.get(id)!.isHeld, leases.find(id)]),
    moved.map(() => [false, undefined]),
  )
})

test('what was taken is known, although the database could not tell', async () => {
  const scene = openScene()
  const { leases, servers, changes } = scene
  servers.withCameras = named('n1')
  scene.isLosingAnswers = true
  await assert.rejects(leases.update(), /connection was lost/)
  assert.deepEqual(changes, [])
  scene.isLosingAnswers = false
  await leases.update()
  assert.deepEqual(changes.toSorted(byNumber), ids)
  assert.equal(leases.find(ids[0]!)!.gapReason, 'node_lost')
})

test('what was lost is said, and what was deleted is not', async () => {
  const { leases, rows, servers, cameras, give, warnings, changes } = openScene()
  servers.withCameras = named('n1')
  await leases.update()
  changes.length = 0
  cameras.delete(4)
  rows.delete(4)
  await leases.update()
  assert.deepEqual([changes.splice(0), warnings], [[4], []])
  servers.withCameras = named('n1', 'n2')
  give(5, 'n2')
  await leases.update()
  assert.deepEqual(changes, [5])
  assert.equal(warnings.length, 1)
})

test('cameras that a living server does not take are taken by the others, for a while', async () => {
  const { leases, rows, cameras, clock, warnings } = openScene()
  rows.clear()
  await leases.update()
  const mine = ids.filter(isOf('n1', ['n1', 'n2']))
  assert.deepEqual(leases.ids(), mine)
  await clock.advance(14_000)
  await leases.update()
  assert.deepEqual(leases.ids(), mine, 'it may still begin')
  await clock.advance(1000)
  await leases.update()
  await leases.update()
  assert.deepEqual(leases.ids().sort(byNumber), ids)
  assert.equal(warnings.length, 1)
  await clock.advance(9 * 60_000)
  const late = [101, 102, 103, 104, 105, 106]
  for (const id of late) cameras.add(id)
  await leases.update()
  assert.deepEqual(leases.ids().sort(byNumber), [...ids, ...late], 'one that comes later too')
  await clock.advance(60_000)
  await leases.update()
  await clock.advance(31_000)
  await leases.update()
  assert.equal(leases.ids().length, ids.length + late.length - 3, 'then it is tried again')
})
