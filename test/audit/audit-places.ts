// Places for an audit: a second disk and a bucket of a real store behind a proxy that fails, and recordings that are moved
// between all of them by commands that are killed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../fake-camera/scene/random.ts'
import { openS3Store, type S3Store, type StoreFault } from '../s3/s3-store.ts'
import { eventually, type ServerProcess } from '../server-under-test.ts'
import type { AuditFault } from './camera-faults.ts'

export type AuditPlaces = AsyncDisposable & {
  /** Beside the first folder. */
  readonly secondFolder: string
  readonly environment: Readonly<Record<string, string>>
  /** Adds the bucket. */
  open(server: ServerProcess): Promise<void>
  listFaults(): AuditFault[]
  /** Moves recordings until the returned function is called. Returns how many commands ran and how many were killed. */
  startMoving(server: ServerProcess, seed: number): () => Promise<{ readonly moves: number; readonly kills: number }>
  /** Ends faults, lets uploads catch up, and compares all places with the index. */
  settle(server: ServerProcess): Promise<PlacesVerdict>
}

export type PlacesVerdict = {
  readonly orphans: number
  readonly missingObjects: number
  /** What else the check found. */
  readonly complaints: readonly string[]
}

type Check = {
  readonly ok: boolean
  readonly orphan_files: readonly string[]
  readonly missing_files: readonly string[]
}

const between = (random: () => number, min: number, max: number) => Math.round(min + random() * (max - min))
const harmless = { reasons: [], noticeMs: 5000, spoilsFrames: false }

export function listStoreFaults(store: Pick<S3Store, 'setFault'>): AuditFault[] {
  const fail = (
    name: string,
    draw: (random: () => number) => (method: string) => StoreFault | undefined,
  ): AuditFault => ({
    name,
    async inflict(random) {
      store.setFault(draw(random))
      await sleep(between(random, 3000, 20_000))
      store.setFault(() => undefined)
    },
    ...harmless,
  })
  const often = (fault: StoreFault, method?: string) => (random: () => number) => (each: string) =>
    (method === undefined || method === each) && random() < 0.3 ? fault : undefined
  return [
    fail('store: down', () => () => ({ kind: 'down' })),
    fail('store: SlowDown', often({ kind: 'status', status: 503, code: 'SlowDown' })),
    fail('store: internal errors', often({ kind: 'status', status: 500, code: 'InternalError' })),
    fail('store: no rights', () => () => ({ kind: 'status', status: 403, code: 'AccessDenied' })),
    fail('store: bodies cut off', often({ kind: 'cut' }, 'GET')),
    fail('store: bodies shorter than they are', often({ kind: 'truncate' }, 'GET')),
    fail('store: uploads cut off', often({ kind: 'cut_request' }, 'PUT')),
    fail('store: slow', often({ kind: 'delay', ms: 1500 })),
  ]
}

export async function openAuditPlaces(folder: string): Promise<AuditPlaces> {
  const store = await openS3Store()
  const secondFolder = join(folder, 'second')
  await mkdir(secondFolder)
  return {
    secondFolder,
    environment: store.environment,
    async open(server) {
      await server.command('place', 'add', store.url('audit'))
    },
    listFaults: () => [
      ...listStoreFaults(store),
      {
        name: 'second disk gone and back',
        async inflict(random) {
          await rename(secondFolder, `${secondFolder}-away`)
          await sleep(between(random, 3000, 15_000))
          await rename(`${secondFolder}-away`, secondFolder)
        },
        ...harmless,
        reasons: ['disk_failed'],
      },
    ],
    startMoving(server, seed) {
      const random = createRandom(seed)
      let [moves, kills] = [0, 0]
      let isMoving = true
      const moving = (async () => {
        while (isMoving) {
          await sleep(between(random, 500, 3000))
          const from = between(random, 1, 3)
          const to = from === 3 ? between(random, 1, 2) : 3 - from
          const args = ['archive', 'move', '--from', String(from), '--to', String(to), '--rate', '20MB']
          const environment = { ...process.env, ...store.environment, NIGHTJAR_DATA: server.dataDir }
          const mover = spawn('./nightjar', [...args, '--min-free', '0'], { stdio: 'ignore', env: environment })
          const ended = once(mover, 'exit')
          // A start takes some 500 ms.
          const limit = random() < 0.6 ? between(random, 500, 1500) : 10_000
          const timer = setTimeout(() => mover.kill('SIGKILL'), limit)
          await ended
          clearTimeout(timer)
          moves++
          if (mover.signalCode === 'SIGKILL') kills++
        }
      })()
      return async () => {
        isMoving = false
        await moving
        return { moves, kills }
      }
    },
    async settle(server) {
      store.setFault(() => undefined)
      let check: Check | undefined
      const complaints: string[] = []
      // Deletes what a command that was killed did not finish.
      await server.command('archive', 'move', '--from', '1', '--to', '2', '--camera', '999999')
      await eventually('bucket, folders and index agree', 90_000, async () => {
        check = await server
          .command<Check>('check', '--deep')
          .catch((error: { stdout: string }) => JSON.parse(error.stdout) as Check)
        return check.ok
      }).catch(() => complaints.push(`check --deep: ${JSON.stringify(check)}`))
      return { orphans: check!.orphan_files.length, missingObjects: check!.missing_files.length, complaints }
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}
