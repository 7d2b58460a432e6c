// What signing in and checking tokens cost: bearer tokens beside no check at all, refreshes beside another request that writes, and
// requests while many sign in. How and why: docs/design/guard.md.

import { type LoadGenerator, openLoadGenerator } from '../api/load-generator.ts'
import { type Measured, measureRequests } from '../api/measure-requests.ts'
import type { Bench } from '../bench.ts'
import { describeMachine, type Report, writeNumber } from '../report.ts'
import { median, percentile, sum } from '../statistics.ts'
import { type AuthServer, type AuthServerKind, openAuthServer } from './auth-server.ts'
import { openRequestLoad, type RequestLoad, type RequestResult } from './request-load.ts'

const turnCount = 5
const chainCount = 16
const floodSize = 500
const probesPerSecond = 200
/** For the probe to connect in, while log-ins come already. */
const probeConnectMs = 1500
const path = '/v1/me/'
const kinds = ['service', 'unchecked', 'uncounted'] as const satisfies readonly AuthServerKind[]
const titles: Record<AuthServerKind, string> = {
  service: 'as in service',
  unchecked: 'without the check of the bearer token',
  uncounted: 'without counting against limits',
}

export const authBench: Bench = {
  name: 'auth',
  summary: 'measures what bearer checks, refreshes and floods of log-ins cost',
  help: `npm run bench -- auth [options]

  --seconds N   measured time of each turn; there are ${turnCount} of each measurement  [3]
  --json        prints one JSON object and nothing else`,
  defaults: { seconds: 3 },
  async run({ seconds, say }) {
    const measuredMs = seconds * 1000
    say('Starting a server for those who sign in …')
    using busy = await openAuthServer('service', { people: floodSize, logIns: turnCount * chainCount })
    using generator = openLoadGenerator()
    using load = openRequestLoad()
    using probe = openRequestLoad()
    const results: Results = {
      me: { service: [], unchecked: [], uncounted: [] },
      refresh: [],
      write: [],
      kept: [],
      fresh: [],
    }
    const nextTokens = createTokenSupply(busy)
    for (let turn = 1; turn <= turnCount; turn++) {
      say(`Turn ${turn} of ${turnCount} …`)
      await compareChecks(results.me, generator, measuredMs)
      const { port, ca, accessToken } = busy
      const target = { port, ca, warmUpMs: 500, measuredMs }
      results.refresh.push(await load.run({ ...target, kind: 'refresh', refreshTokens: nextTokens() }))
      results.write.push(await load.run({ ...target, kind: 'write', accessToken, connections: chainCount }))
      results.kept.push(await measureFlood({ probe, load, server: busy, isConnecting: false, measuredMs }))
      results.fresh.push(await measureFlood({ probe, load, server: busy, isConnecting: true, measuredMs }))
    }
    return createReport(results, seconds)
  },
}

type Flood = { readonly me: RequestResult; readonly logins: RequestResult }

type Results = {
  readonly me: Record<AuthServerKind, Measured[]>
  readonly refresh: RequestResult[]
  readonly write: RequestResult[]
  /** Floods on connections that were there before, and on new ones. */
  readonly kept: Flood[]
  readonly fresh: Flood[]
}

/**
 * The same program is up to a fifth faster or slower from one process to the next, so each turn has new ones; and asks them in short
 * slices, each first, second and third equally often, so that other programs disturb all alike.
 */
async function compareChecks(results: Results['me'], generator: LoadGenerator, measuredMs: number): Promise<void> {
  const size = { people: 1, logIns: 0 }
  using service = await openAuthServer('service', size)
  using unchecked = await openAuthServer('unchecked', size)
  using uncounted = await openAuthServer('uncounted', size)
  const servers = { service, unchecked, uncounted }
  for (const shift of kinds.keys()) {
    for (const kind of rotate(kinds, shift)) {
      results[kind].push(await measureMe(generator, servers[kind], measuredMs / kinds.length))
    }
  }
}

function measureMe(generator: LoadGenerator, server: AuthServer, measuredMs: number): Promise<Measured> {
  const { pid, port, ca, accessToken } = server
  // Without cameras it does nothing while nobody asks.
  const subject = { pid, port, ca, authorization: `Bearer ${accessToken}`, idleShare: 0 }
  return measureRequests(generator, subject, { path, measuredMs })
}

type FloodOptions = {
  readonly probe: RequestLoad
  readonly load: RequestLoad
  readonly server: AuthServer
  readonly isConnecting: boolean
  readonly measuredMs: number
}

/** Requests at a pace of their own, on connections that are there: those that come while the server is busy are not spared. */
async function measureFlood({ probe, load, server, isConnecting, measuredMs }: FloodOptions): Promise<Flood> {
  const { port, ca, accessToken } = server
  const probeOrder = { kind: 'probe', port, ca, accessToken, path, perSecond: probesPerSecond, measuredMs } as const
  const floodMs = measuredMs + probeConnectMs
  const floodOrder = { kind: 'flood', port, ca, logins: floodSize, isConnecting, measuredMs: floodMs } as const
  const probing = Promise.withResolvers<RequestResult>()
  const logins = await load.run(floodOrder, () => probe.run(probeOrder).then(probing.resolve, probing.reject))
  return { me: await probing.promise, logins }
}

/** A refresh token is good once, so each turn has its own. */
function createTokenSupply({ refreshTokens }: AuthServer): () => string[] {
  let used = 0
  return () => {
    const tokens = refreshTokens.slice(used, used + chainCount)
    if (tokens.length < chainCount) throw new Error('there are too few refresh tokens for so many turns')
    used += chainCount
    return tokens
  }
}

function createReport(results: Results, seconds: number): Report {
  const { me, refresh, write, kept, fresh } = results
  const rate = (of: readonly RequestResult[]) =>
    median(of.map(({ statuses, elapsedMs }) => (sum(Object.values(statuses)) * 1000) / elapsedMs))
  const middle = (of: readonly Measured[], value: 'requestsPerSecond' | 'p50Ms' | 'p99Ms' | 'cpuMicros') =>
    median(of.map((each) => each[value]))
  /** What leaving it out would save, as a share of the requests that would then be answered, or of their CPU time. */
  const cost = (kind: AuthServerKind) =>
    1 - middle(me.service, 'requestsPerSecond') / middle(me[kind], 'requestsPerSecond')
  const cpuCost = (kind: AuthServerKind) => 1 - middle(me[kind], 'cpuMicros') / middle(me.service, 'cpuMicros')
  const meRow = (title: string, of: readonly Measured[]) => [
    title,
    ...(['requestsPerSecond', 'p50Ms', 'p99Ms', 'cpuMicros'] as const).map((value) => writeNumber(middle(of, value))),
  ]
  const floodRow = (title: string, of: readonly Flood[]) => {
    const logins = of.map(({ logins }) => logins)
    const answered = (status: string) =>
      median(logins.map(({ statuses, elapsedMs }) => ((statuses[status] ?? 0) * 1000) / elapsedMs))
    const latenciesMs = of.flatMap(({ me }) => me.latenciesMs ?? [])
    return [
      title,
      ...[answered('200'), answered('503'), ...[50, 99, 100].map((percent) => percentile(latenciesMs, percent))].map(
        writeNumber,
      ),
    ]
  }
  const floodP99Ms = percentile(
    [...kept, ...fresh].flatMap(({ me }) => me.latenciesMs ?? []),
    99,
  )
  return {
    name: 'auth',
    title: 'Signing in, and checking who is signed in',
    setting: [
      `The service's API, OAuth and SQLite store, without cameras, each in a process of its own; requests from other processes ` +
        `over HTTP/1.1 and TLS on connections that are kept; ${turnCount} turns of ${seconds} s of each, in alternation; medians. ` +
        `During floods \`${path}\` is asked for ${probesPerSecond} times a second, at fixed moments, from which the time of the answer counts.`,
      `Measured on ${describeMachine()}.`,
    ],
    tables: [
      {
        head: [`\`${path}\``, 'requests/s', 'p50, ms', 'p99, ms', 'CPU per request, µs'],
        rows: kinds.map((kind) => meRow(titles[kind], me[kind])),
      },
      {
        head: [`on ${chainCount} connections`, 'requests/s'],
        rows: [
          ['refresh', writeNumber(rate(refresh))],
          [`\`${path}\` with a durable write`, writeNumber(rate(write))],
        ],
      },
      {
        head: [
          `${floodSize} log-ins at once, again and again`,
          'signed in/s',
          'told to wait/s',
          `p50 of \`${path}\`, ms`,
          'p99, ms',
          'longest, ms',
        ],
        rows: [floodRow('on kept connections', kept), floodRow('on new connections', fresh)],
      },
    ],
    targets: [
      {
        key: 'bearerCost',
        title: `share of \`${path}\` requests/s that the bearer check costs`,
        value: cost('unchecked'),
        limit: 0.15,
        kind: 'at most',
      },
      {
        key: 'refreshRatio',
        title: `refreshes/s ÷ requests/s of \`${path}\` with a write`,
        value: rate(refresh) / rate(write),
        limit: 0.5,
        kind: 'at least',
      },
      {
        key: 'floodP99Ms',
        title: `p99 of \`${path}\` while ${floodSize} log in at once, ms`,
        value: floodP99Ms,
        limit: 100,
        kind: 'at most',
      },
    ],
    notes: [
      `By CPU time per request, which other programs disturb less, the check costs ${writePercent(cpuCost('unchecked'))} and counting ` +
        `${writePercent(cpuCost('uncounted'))}.`,
    ],
    details: {
      countCost: cost('uncounted'),
      bearerCpuCost: cpuCost('unchecked'),
      countCpuCost: cpuCost('uncounted'),
      seconds,
      results,
    },
  }
}

const rotate = <T>(items: readonly T[], by: number): readonly T[] =>
  items.map((_, at) => items[(at + by) % items.length]!)

const writePercent = (share: number): string => `${(share * 100).toFixed(1)} %`
