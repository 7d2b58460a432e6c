// GET /metrics in the text format of Prometheus. The values are read from the `stats()` of each part at every request.
// Only this machine and other servers of the database may read them. They name no camera or person, but show how much
// cameras are watched. With ?servers=all, those of all servers.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { AppError } from '../base/error.ts'

export type Measurement = {
  /** The name without the prefix `nightjar_`. Names of counters end in `_total`. */
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  readonly value: number
  /** All measurements of a name have the same labels with different values. */
  readonly labels?: { readonly [label: string]: string }
}

/** `text`: undefined if the server does not answer. */
export type ServerMetrics = { readonly name: string; readonly text: string | undefined }

export type MetricsOptions = {
  readonly measure: () => readonly Measurement[]
  readonly peers?: { readonly ownName: string; readMetrics(): Promise<readonly ServerMetrics[]> } | undefined
  readonly isFromPeer: (request: IncomingMessage) => boolean
}

export function registerMetrics(server: FastifyInstance, { measure, peers, isFromPeer }: MetricsOptions): void {
  let runtime: Registry | undefined
  server.get('/metrics', async (request, reply) => {
    if (!isFromItself(request) || !(isFromPeer(request.raw) || isFromThisMachine(request)))
      throw new AppError('forbidden', 'metrics are available only from loopback addresses')
    runtime ??= createRuntimeMetrics()
    const own = `${await runtime.metrics()}\n${await writeMeasurements(measure())}`
    const isOfAll = peers && new URLSearchParams(request.query as string).get('servers') === 'all'
    const text = isOfAll ? joinMetrics([{ name: peers.ownName, text: own }, ...(await peers.readMetrics())]) : own
    const { raw } = reply.hijack()
    raw.writeHead(200, { 'content-type': runtime.contentType })
    raw.end(text)
  })
}

/**
 * The metrics of several servers as one text, each with the label `server`. `nightjar_server_up` tells which have
 * answered.
 */
export function joinMetrics(servers: readonly ServerMetrics[]): string {
  const heads = new Map<string, string[]>()
  const samples = new Map<string, string[]>()
  const add = (to: Map<string, string[]>, name: string, line: string) => to.set(name, [...(to.get(name) ?? []), line])
  for (const { name: server, text } of [...servers].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    add(samples, 'nightjar_server_up', `nightjar_server_up{server="${server}"} ${text === undefined ? 0 : 1}`)
    let family = ''
    const known = new Set(heads.keys())
    for (const line of text?.split('\n') ?? []) {
      const [, described] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? []
      const [, name, labels, value] = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (described !== undefined) {
        family = described
        if (!known.has(family)) add(heads, family, line)
      } else if (name !== undefined) {
        add(samples, family, `${name}{server="${server}"${labels ? `,${labels}` : ''}} ${value}`)
      }
    }
  }
  heads.set('nightjar_server_up', [
    '# HELP nightjar_server_up Whether the server has answered.',
    '# TYPE nightjar_server_up gauge',
  ])
  return [...samples].map(([name, lines]) => [...heads.get(name)!, ...lines, ''].join('\n')).join('\n')
}

/** Requests that are handed on come from elsewhere. */
function isFromItself({ headers }: FastifyRequest): boolean {
  return headers['x-forwarded-for'] === undefined && headers.forwarded === undefined
}

function isFromThisMachine(request: FastifyRequest): boolean {
  const address = request.raw.socket.remoteAddress ?? ''
  return address === '::1' || /^(::ffff:)?127\./.test(address)
}

function createRuntimeMetrics(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'nightjar_' })
  return registry
}

async function writeMeasurements(measurements: readonly Measurement[]): Promise<string> {
  const registry = new Registry()
  for (const [name, same] of Map.groupBy(measurements, ({ name }) => name)) {
    const { help, kind, labels = {} } = same[0]!
    const options = { name: `nightjar_${name}`, help, labelNames: Object.keys(labels), registers: [registry] }
    if (kind === 'counter') {
      const counter = new Counter(options)
      for (const { labels = {}, value } of same) counter.inc(labels, value)
    } else {
      const gauge = new Gauge(options)
      for (const { labels = {}, value } of same) gauge.set(labels, value)
    }
  }
  return registry.metrics()
}
