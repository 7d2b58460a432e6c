// Servers that share cameras are killed one after the other: how soon each camera is recorded again, and what is missing or
// there twice afterwards.

import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../../server/base/free-port.ts'
import { openFakeCamera } from '../../test/fake-camera/fake-camera.ts'
import type { TemporaryPostgres } from '../../test/postgres/temporary-postgres.ts'
import { eventually, openServerBeside, openServerWith, type ServerProcess } from '../../test/server-under-test.ts'

export type Failover = {
  /** From the end of a server to the first frame that another one recorded, for each of its cameras, milliseconds. */
  readonly timesMs: readonly number[]
  /** Frames between two files, and frames that two files have. */
  readonly lostFrames: number
  readonly doubleFrames: number
  readonly cameras: number
  readonly nodes: number
}

const cameras = 12
const framesPerSecond = 15
const names = ['n1', 'n2', 'n3'] as const
/** Ends of files that are nearer to the next file than this are no gap. */
const seamMs = 150

type Owner = { readonly camera_id: string; readonly node: string; readonly epoch: number }
type File = { readonly camera_id: string; readonly start_ms: string; readonly end_ms: string; readonly path: string }

export async function measureFailover(postgres: TemporaryPostgres, say: (text: string) => void): Promise<Failover> {
  await using opened = new AsyncDisposableStack()
  const database = await postgres.createDatabase()
  process.env.NIGHTJAR_DATABASE = database
  const servers: ServerProcess[] = []
  for (const name of names) {
    const address = `127.0.0.1:${await findFreePort('127.0.0.1')}`
    const args = ['--node-name', name, '--peer-address', address, '--min-free', '0', '--log-level', 'warn']
    const [first] = servers
    servers.push(opened.use(first ? await openServerBeside(first, ...args) : await openServerWith({}, ...args)))
  }
  const video = { width: 320, height: 180, framesPerSecond, gopFrames: 2 * framesPerSecond, loopSeconds: 4 }
  const streams = Array.from({ length: cameras }, (_, i) => ({ name: `camera${i}`, ...video }))
  const source = opened.use(await openFakeCamera({ streams }))
  for (const { name } of streams) await servers[0]!.addCamera(name, source.url(name), '--record', 'P1D')
  const listOwners = () =>
    postgres.query<Owner>("select camera_id, node, epoch from camera_leases where incarnation <> ''", database)
  const listFiles = () =>
    postgres.query<File>(
      'select camera_id, start_ms, end_ms, path from segments order by camera_id, start_ms',
      database,
    )
  /** The first file of each camera since then, by the server that has it now. */
  const findFirst = async (owners: readonly Owner[], sinceMs: number) => {
    const files = await listFiles()
    return owners.map(({ camera_id, epoch }) => {
      const isLater = ({ path, start_ms }: File) =>
        Number(/\.e(\d+)/.exec(path)?.[1]) > epoch && Number(start_ms) > sinceMs
      return files.find((file) => file.camera_id === camera_id && isLater(file))
    })
  }
  const areSpread = async () => new Set((await listOwners()).map(({ node }) => node)).size === names.length
  await eventually('all are recorded', 60_000, async () => (await listFiles()).length >= cameras && (await areSpread()))
  const timesMs: number[] = []
  for (const [i, server] of servers.entries()) {
    await sleep(10_000)
    const name = names[i]!
    const owned = (await listOwners()).filter(({ node }) => node === name)
    say(`${name}, which has ${owned.length} cameras, is killed …`)
    await server.kill()
    const killedMs = Date.now()
    const found = await eventually('others record them', 60_000, async () => {
      const first = await findFirst(owned, killedMs)
      return first.every((file) => file !== undefined) && first
    })
    timesMs.push(...found.map((file) => Number(file!.start_ms) - killedMs))
    await server.start()
    await eventually('it has cameras again', 120_000, areSpread)
  }
  await sleep(5000)
  for (const server of servers) await server.stop()
  let lostMs = 0
  let doubleMs = 0
  const files = await listFiles()
  for (const [i, file] of files.entries()) {
    const next = files[i + 1]
    if (next?.camera_id !== file.camera_id) continue
    const gapMs = Number(next.start_ms) - Number(file.end_ms)
    if (gapMs > seamMs) lostMs += gapMs
    if (gapMs < -seamMs) doubleMs -= gapMs
  }
  const frames = (ms: number) => Math.round((ms * framesPerSecond) / 1000)
  return { timesMs, lostFrames: frames(lostMs), doubleFrames: frames(doubleMs), cameras, nodes: names.length }
}
