// Servers that take each other's cameras, and may fall asleep before any statement: two to four of them, on a real
// database. Triggers write down in which order the database let them through, and afterwards that order is checked. A
// fence that is taken out of the statements must be missed by one of the runs, or it is not needed.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { LostLease } from '../../server/model/camera-lease.ts'
import type { LeaseRow } from '../../server/store/server/leases.ts'
import { openStore, type Store } from '../../server/store/store.ts'
import { createRandom } from '../fake-camera/scene/random.ts'
import { testPostgres } from './each-database.ts'
import type { TemporaryPostgres } from './temporary-postgres.ts'

const cameras = 4
const runMs = 1500
/** A server counts as gone so soon here. */
const lastsMs = 60

/** What triggers write: in the order of the locks, because they run while these are held. */
const watching = `
  create table watched (id bigserial primary key, what text, camera int, of text, epoch int, at_ms bigint);
  create function watch() returns trigger language plpgsql as $$
    declare now_ms bigint := extract(epoch from clock_timestamp()) * 1000;
    begin
      if tg_table_name = 'nodes' then
        insert into watched (what, of, at_ms) values ('renewed', new.incarnation, new.expires_ms);
      elsif tg_table_name = 'segments' then
        insert into watched (what, camera, of, epoch, at_ms) values
          ('written', new.camera_id, split_part(new.run_id, ' ', 1), split_part(new.run_id, ' ', 2)::int, now_ms);
      else
        if tg_op = 'UPDATE' and old.incarnation <> '' and new.incarnation <> '' then
          insert into watched (what, camera, of, epoch, at_ms) values ('lost', new.camera_id, old.incarnation, old.epoch, now_ms);
        end if;
        insert into watched (what, camera, of, epoch, at_ms) values
          (case new.incarnation when '' then 'released' else 'taken' end, new.camera_id, new.incarnation, new.epoch, now_ms);
      end if;
      return null;
    end $$;
  create trigger watch after insert or update on nodes for each row execute function watch();
  create trigger watch after insert or update on camera_leases for each row execute function watch();
  create trigger watch after insert on segments for each row execute function watch();`

type Watched = { what: string; camera: number | null; of: string; epoch: number | null; at_ms: string }

/** Before every statement of these tables a pause is drawn, and `edit` may change the statement. */
type Interference = { readonly random: () => number; readonly edit: (text: string) => string }
let interference: Interference | undefined

const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [statement, ...rest] = args as [string | { readonly text: string }, ...unknown[]]
  // The pool of pg itself passes callbacks.
  if (!interference || typeof rest.at(-1) === 'function') return query.apply(this, args)
  const { random, edit } = interference
  const drawn = random()
  const pauseMs = drawn < 0.08 ? 3 * lastsMs * random() : drawn < 0.5 ? 5 * random() : 0
  const edited = typeof statement === 'string' ? edit(statement) : { ...statement, text: edit(statement.text) }
  return delay(pauseMs).then(() => query.apply(this, [edited, ...rest]))
} as typeof pg.Client.prototype.query

testPostgres('a camera has one server, whoever sleeps when', async (_, postgres) => {
  const counts = new Map<string, number>()
  for (const seed of [1, 2, 3]) {
    const rows = await runModel(postgres, { seed })
    assert.deepEqual(findFaults(rows), [], `seed ${seed}`)
    for (const { what } of rows) counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  // A run in which nothing happens proves nothing.
  for (const what of ['taken', 'lost', 'released', 'written'])
    assert.ok((counts.get(what) ?? 0) >= 5, `${what}: ${counts.get(what)}`)
})

/** Each is a part of the statements, and what goes wrong without it. */
const fences = [
  {
    fence: /where "camera_id" = \$1 and "incarnation" = \$2 and "epoch" = \$3 for share/,
    as: 'where "camera_id" = $1 and $2 <> \'\' and $3 > 0 for share',
    wrong: /written/,
  },
  { fence: / for share/, as: '', wrong: /written/ },
  { fence: /("nodes" where "incarnation" in .*) for update/, as: '$1', wrong: /was alive/ },
  {
    fence: /(update "camera_leases" set "node" .*) and ("incarnation" in \([^)]*\))/,
    as: '$1 and ($2 or true)',
    wrong: /was alive|twice|nothing/,
  },
  {
    fence: /expires_ms > cast\(.*?as bigint\) as "is_alive"/,
    as: '"incarnation" = $1 as "is_alive"',
    wrong: /was alive/,
  },
] as const

for (const [i, { fence, as, wrong }] of fences.entries())
  testPostgres(`the model misses fence ${i + 1} of ${fences.length}`, async (_, postgres) => {
    for (let seed = 1; seed <= 10; seed++) {
      let edited = 0
      const edit = (text: string) => {
        if (fence.test(text)) edited++
        return text.replace(fence, as)
      }
      const faults = findFaults(await runModel(postgres, { seed, edit }))
      assert.ok(edited > 0, `no statement has ${fence}`)
      if (faults.some((fault) => wrong.test(fault))) return
    }
    assert.fail(`nothing goes wrong without ${fence}`)
  })

/** Returns what the triggers wrote down. */
async function runModel(
  postgres: TemporaryPostgres,
  { seed, edit = (text) => text }: { readonly seed: number; readonly edit?: (text: string) => string },
): Promise<Watched[]> {
  const database = await postgres.createDatabase()
  const credentialsKey = randomBytes(32)
  const random = createRandom(seed)
  const servers = 2 + (seed % 3)
  const stores: Store[] = []
  try {
    for (let i = 0; i < servers; i++) stores.push(await openStore({ database, credentialsKey, foreignIntervalMs: 0 }))
    const [store] = stores
    const person = { email: 'ada@example.com', firstName: 'Ada', lastName: 'L', passwordHash: 'x' }
    const { id: ownerId } = await store!.users.insert(person)
    const ids: number[] = []
    for (let i = 0; i < cameras; i++) {
      const camera = await store!.cameras.insert({
        ownerId,
        name: `camera ${i}`,
        type: 'h264',
        url: 'rtsp://192.0.2.1/',
        username: null,
        password: null,
      })
      ids.push(camera.id)
    }
    await postgres.query(watching, database)
    interference = { random, edit }
    const until = performance.now() + runMs
    await Promise.all(stores.map((each, i) => serve(each, `n${i}`, { ids, random, until })))
    interference = undefined
    return await postgres.query<Watched>('select * from watched order by id', database)
  } finally {
    interference = undefined
    for (const each of stores) await each.close()
  }
}

type Serving = { readonly ids: readonly number[]; readonly random: () => number; readonly until: number }

/** Does what a server does, in its own order: what it believes to have may be hours old when it writes. */
async function serve(store: Store, name: string, { ids, random, until }: Serving): Promise<void> {
  const self = { name, incarnation: randomBytes(4).toString('hex') }
  const row = { ...self, holder: name, address: null, hasCameras: true, processors: 2, version: '1' }
  await store.nodes.add(row, { lastsMs, isStart: true })
  let believed: LeaseRow[] = []
  const report = async () => {
    if (!(await store.nodes.renew(self, lastsMs))) await store.nodes.add(row, { lastsMs, isStart: false })
  }
  const look = async () => {
    believed = (await store.leases.list()).filter(({ incarnation }) => incarnation === self.incarnation)
  }
  const write = async () => {
    for (const lease of believed) {
      const { cameraId, epoch } = lease
      const runId = `${self.incarnation} ${epoch}`
      const file = { cameraId, runId, runStart90k: 0, placeId: 1, path: 'a.mp4', startMs: 1000, initBytes: 10 }
      const format = { codecs: '', width: 1, height: 1, initHash: '', gapReason: undefined }
      const insert = ({ segments }: Pick<Store, 'segments'>) => segments.insertOpen({ ...file, ...format })
      await store.fenced(lease, insert).catch((error) => {
        if (!(error instanceof LostLease)) throw error
      })
    }
  }
  const repeat = async (work: () => Promise<unknown>, everyMs: number) => {
    while (performance.now() < until) {
      await work()
      await delay(everyMs * random())
    }
  }
  await Promise.all([
    repeat(report, lastsMs / 2),
    repeat(
      () =>
        store.leases.take(
          self,
          ids.filter(() => random() < 0.7),
        ),
      lastsMs,
    ),
    repeat(look, 2 * lastsMs),
    repeat(write, 5),
    repeat(() => store.leases.release(believed.filter(() => random() < 0.1)), lastsMs),
  ])
}

function findFaults(rows: readonly Watched[]): string[] {
  const faults: string[] = []
  const holders = new Map<number, { of: string; epoch: number }>()
  const expiresMs = new Map<string, number>()
  for (const { what, camera, of, epoch, at_ms: at } of rows) {
    if (what === 'renewed') {
      expiresMs.set(of, Number(at))
      continue
    }
    const holder = holders.get(camera!)
    if (what === 'lost' && Number(at) < expiresMs.get(of)!)
      faults.push(`camera ${camera}: ${of} was alive for ${expiresMs.get(of)! - Number(at)} ms when it was taken`)
    if (what === 'taken') {
      if (holder && epoch! <= holder.epoch) faults.push(`camera ${camera}: epoch ${epoch} twice`)
      holders.set(camera!, { of, epoch: epoch! })
    }
    if (what === 'released') holders.set(camera!, { of: '', epoch: epoch! })
    if (what === 'written' && (holder?.of !== of || holder.epoch !== epoch))
      faults.push(`camera ${camera}: written by ${of} under ${epoch}, but ${holder?.of} has ${holder?.epoch}`)
  }
  return faults
}
