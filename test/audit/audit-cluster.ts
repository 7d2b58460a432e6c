// Several servers for an audit: three that share the cameras behind HAProxy, PostgreSQL with a replica, and a bucket of a real
// store. Each server is killed, stopped, paused, drained and cut off, alone and together with the others; the database is
// away or fails over, and the store fails.

import { mkdir } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SerialQueue } from '../../server/base/serial-queue.ts'
import { openGuideBalancer } from '../postgres/guide-balancer.ts'
import { ReplicatedPostgres } from '../postgres/replicated-postgres.ts'
import { findPostgres } from '../postgres/temporary-postgres.ts'
import { openS3Store } from '../s3/s3-store.ts'
import { eventually, openSharingServer, type ServerProcess } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'
import { listStoreFaults, type PlacesVerdict } from './audit-places.ts'
import type { AuditFault } from './camera-faults.ts'
import type { ClusterNetwork } from './cluster-network.ts'
import type { HttpAccess } from './http-reader.ts'
import type { DoneFault } from './judge.ts'
import type { DirectServer } from './revocations.ts'

export type AuditServer = HttpAccess & {
  /** A change of the interface; the status and the body. */
  request(path: string, options: { readonly method: string; readonly body?: unknown }): Promise<AuditAnswer>
  log(): string
}

export type AuditAnswer = { readonly status: number; readonly text: string; readonly json: unknown }

export type AuditCluster = AsyncDisposable & {
  /** All of them, through the balancer. */
  readonly server: AuditServer
  /** What happens to each server, and to what they share. */
  readonly sufferers: readonly { readonly name: string; readonly faults: readonly AuditFault[] }[]
  /** Each server for itself. */
  readonly direct: readonly DirectServer[]
  /** When cameras changed hands, by camera. */
  listMoves(): Promise<Map<number, DoneFault[]>>
  /** Ends faults, waits for uploads, and compares folders, bucket and index. */
  settle(): Promise<PlacesVerdict>
  /** Stops all. Returns what was wrong. */
  stop(): Promise<string[]>
}

const names = ['n1', 'n2', 'n3'] as const
const loopback = '127.0.0.1'
/** A server that ends before the database is back takes with it why it did not record. */
const unstored = 'unknown'
const between = (random: () => number, min: number, max: number) => Math.round(min + random() * (max - min))

/** Written by the database itself. */
const watchMoves = `
  create table moves (camera_id int, at_ms bigint);
  create function note_move() returns trigger language plpgsql as $$
    begin
      insert into moves values (new.camera_id, extract(epoch from clock_timestamp()) * 1000);
      return null;
    end $$;
  create trigger note_move after insert or update on camera_leases for each row execute function note_move();`

/** `network`: all is on loopback, and nothing can be cut off, unless given. */
export async function openAuditCluster(folder: string, network?: ClusterNetwork): Promise<AuditCluster> {
  await using opened = new AsyncDisposableStack()
  const { hosts, servers: lines = [] } = network ?? {}
  const postgres = opened.use(await ReplicatedPostgres.open(findPostgres()!, hosts?.database ?? loopback))
  process.env.NIGHTJAR_DATABASE = postgres.url
  opened.defer(() => void delete process.env.NIGHTJAR_DATABASE)
  const store = opened.use(await openS3Store(hosts?.store))
  Object.assign(process.env, store.environment)
  const addresses = names.map((_, i) => lines[i]?.address ?? loopback)
  const proxy = hosts?.balancer ?? loopback
  const balancer = opened.use(await openGuideBalancer(proxy, addresses))
  const servers: ServerProcess[] = []
  for (const [i, name] of names.entries()) {
    const archive = join(folder, name)
    await mkdir(archive)
    const { host, port } = balancer.servers[i]!
    const args = [
      ...['--node-name', name, '--peer-address', `${host}:${await findOwnPort(loopback)}`],
      ...['--host', host, '--port', String(port), '--behind-proxy', '--trusted-proxies', proxy],
      ...['--public-url', balancer.url],
      ...['--archive', archive, '--rate-limit', '0', '--min-free', '0', '--workers', '1'],
    ]
    servers.push(opened.use(await openSharingServer(lines[i]?.launcher ?? [], servers[0], ...args)))
  }
  const [first] = servers as [ServerProcess, ...ServerProcess[]]
  await first.command('place', 'add', store.url('audit'))
  await postgres.query(watchMoves)
  balancer.start()
  const health = new URL('/healthz', balancer.url)
  await eventually('the balancer answers', 20_000, () =>
    ask(health, balancer.ca, first.token, { method: 'GET' }).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
  const count = async (what: string) =>
    Number((await postgres.query<{ count: string }>(`select count(*) from ${what}`))[0]!.count)
  const cuts = network ? listCuts(network) : names.map(() => [])
  // What happens to all at once waits for what happens to one, and the other way around.
  const turns = names.map(() => new SerialQueue())
  const inTurn = (turn: SerialQueue, fault: AuditFault): AuditFault => {
    return { ...fault, inflict: (random) => turn.run(() => fault.inflict(random)) }
  }
  const all = turns.reduce((fault, turn) => inTurn(turn, fault), createPowerFailure(servers, postgres))
  const held = opened.move()
  return {
    server: {
      ...{ url: balancer.url, ca: balancer.ca, token: first.token },
      request: (path, options) => ask(new URL(path, balancer.url), balancer.ca, first.token, options),
      log: () => servers.map((each, i) => `${names[i]}\n${each.log()}`).join('\n\n'),
    },
    direct: balancer.servers.map((each, i) => ({ ...each, name: names[i]!, from: proxy })),
    sufferers: [
      ...servers.map((server, i) => ({
        name: names[i]!,
        faults: [...listServerFaults(server, names[i]!, first), ...cuts[i]!].map((fault) => inTurn(turns[i]!, fault)),
      })),
      { name: 'shared', faults: [...listDatabaseFaults(postgres), ...listStoreFaults(store), all] },
    ],
    async listMoves() {
      const rows = await postgres.query<{ camera_id: number; at_ms: string }>('select * from moves')
      const move = (atMs: number): DoneFault => ({
        ...{ name: 'given to another server', fromMs: atMs - 2000, toMs: atMs + 2000, noticeMs: 3000 },
        ...{ reasons: ['node_lost', 'server_down'], spoilsFrames: false },
      })
      const byCamera = Map.groupBy(rows, (row) => row.camera_id)
      return new Map([...byCamera].map(([id, own]) => [id, own.map((row) => move(Number(row.at_ms)))]))
    },
    async settle() {
      store.setFault(() => undefined)
      for (const line of lines) line.join()
      const complaints: string[] = []
      await eventually('all is in the bucket', 120_000, async () => {
        const [open, local] = [
          await count('segments where is_closed = 0'),
          await count(`segments where place_id not in (select id from places where folder like 's3:%')`),
        ]
        return open + local === 0
      }).catch((error: Error) => complaints.push(error.message))
      const pending = await eventually('deletions', 60_000, async () => (await count('pending_deletions')) === 0).catch(
        () => undefined,
      )
      if (!pending) complaints.push('deletions are pending')
      type Check = { readonly ok: boolean; readonly orphan_files: string[]; readonly missing_files: string[] }
      const runCheck = () =>
        first.command<Check>('check', '--deep').catch((error: { stdout: string }) => JSON.parse(error.stdout) as Check)
      let check = await runCheck()
      // A server that was cut off until the end searches for files without a row, which takes it some ten seconds.
      for (let i = 0; i < 6 && !check.ok; i++) {
        await sleep(10_000)
        check = await runCheck()
      }
      if (!check.ok) complaints.push(`check --deep: ${JSON.stringify(check)}`)
      return { orphans: check.orphan_files.length, missingObjects: check.missing_files.length, complaints }
    },
    async stop() {
      const codes = await Promise.all(servers.map((each) => each.stop()))
      return codes.flatMap((code, i) => (code === 0 ? [] : [`${names[i]} ended with code ${code}`]))
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

function listServerFaults(server: ServerProcess, name: string, first: ServerProcess): AuditFault[] {
  const taken = { reasons: ['server_down', 'node_lost'], noticeMs: 5000, spoilsFrames: false }
  const start = () => startAgain(server, name)
  const pause = (from: number, to: number) => async (random: () => number) => {
    process.kill(server.pid, 'SIGSTOP')
    await sleep(between(random, from, to))
    process.kill(server.pid, 'SIGCONT')
  }
  return [
    {
      name: `${name} killed`,
      async inflict(random) {
        await server.kill()
        await sleep(between(random, 0, 25_000))
        await start()
      },
      ...taken,
    },
    {
      name: `${name} stopped and started`,
      async inflict(random) {
        await server.stop()
        await sleep(between(random, 0, 15_000))
        await start()
      },
      ...taken,
    },
    { name: `${name} stands still`, inflict: pause(500, 6000), ...taken, reasons: [], holdsUp: true },
    {
      name: `${name} stands still for long`,
      inflict: pause(9000, 40_000),
      ...{ ...taken, reasons: [...taken.reasons, 'packet_loss', 'no_frames', 'camera_unreachable'], noticeMs: 15_000 },
      holdsUp: true,
    },
    {
      name: `${name} drained`,
      async inflict(random) {
        const drain = (...args: string[]) =>
          eventually(`node drain ${args.join(' ')}`, 60_000, () =>
            first.command('node', 'drain', name, ...args).then(
              () => true,
              () => false,
            ),
          )
        await drain().catch(() => undefined)
        await sleep(between(random, 1000, 10_000))
        await drain('--undo')
      },
      ...taken,
    },
  ]
}

/** The database may be away meanwhile. */
function startAgain(server: ServerProcess, name: string): Promise<boolean> {
  return eventually(`${name} starts`, 60_000, () =>
    server.start().then(
      () => true,
      () => false,
    ),
  )
}

function listDatabaseFaults(postgres: ReplicatedPostgres): AuditFault[] {
  const harmless = { reasons: [unstored], noticeMs: 10_000, spoilsFrames: false }
  return [
    {
      name: 'database away',
      async inflict(random) {
        const { primary } = postgres
        await primary.stop(random() < 0.5 ? 'immediate' : 'fast')
        await sleep(between(random, 1000, 15_000))
        await primary.start()
      },
      ...harmless,
    },
    {
      name: 'database fails over',
      inflict: (random) => postgres.failOver(random() < 0.5 ? 0 : between(random, 500, 5000)),
      ...harmless,
    },
  ]
}

/** A power failure of the whole house. */
function createPowerFailure(servers: readonly ServerProcess[], postgres: ReplicatedPostgres): AuditFault {
  return {
    name: 'all servers and the database off and on',
    async inflict(random) {
      const { primary } = postgres
      await Promise.all([...servers.map((server) => server.kill()), primary.stop('immediate')])
      await sleep(between(random, 0, 10_000))
      await primary.start()
      await Promise.all(servers.map((server, i) => startAgain(server, names[i]!)))
    },
    ...{ reasons: ['server_down', 'node_lost'], noticeMs: 15_000, spoilsFrames: false },
  }
}

/** Of each server: what it can be cut off from, alone or all at once. */
function listCuts({ hosts, servers }: ClusterNetwork): AuditFault[][] {
  return servers.map(({ address, cut, join }, i) => {
    const others = servers.filter((each) => each.address !== address).map((each) => each.address)
    const fault = (from: string, addresses: readonly string[], reasons: readonly string[]): AuditFault => ({
      name: `${names[i]} cut off from ${from}`,
      async inflict(random) {
        cut(addresses)
        await sleep(between(random, 2000, 25_000))
        join()
      },
      ...{ reasons, noticeMs: 15_000, spoilsFrames: false },
    })
    const taken = ['server_down', 'node_lost', unstored]
    return [
      fault('database', [hosts.database], taken),
      fault('store', [hosts.store], []),
      fault('clients', [hosts.balancer], []),
      fault('servers', others, []),
      // Its cameras may notice first. After a short cut, what they sent meanwhile comes late.
      {
        ...fault('everything', [...Object.values(hosts), ...others], [...taken, 'camera_unreachable', 'no_frames']),
        holdsUp: true,
      },
    ]
  })
}

/** On a connection of its own. Rejects if there is no answer. */
function ask(url: URL, ca: string, token: string, options: { readonly method: string; readonly body?: unknown }) {
  const { promise, resolve, reject } = Promise.withResolvers<AuditAnswer>()
  const body = options.body === undefined ? undefined : JSON.stringify(options.body)
  const headers = { authorization: `PersonalAccessToken ${token}`, ...(body && { 'content-type': 'application/json' }) }
  const asked = httpsRequest(url, { method: options.method, ca, agent: false, headers, timeout: 30_000 })
  asked.on('timeout', () => asked.destroy(new Error('no answer')))
  asked.on('error', reject)
  asked.on('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      resolve({
        ...{ status: response.statusCode!, text },
        get json() {
          return JSON.parse(text) as unknown
        },
      })
    })
  })
  asked.end(body)
  return promise
}
