// GET /metrics in Prometheus' text format, pulled from each part's `stats()` when asked. Answered to this machine only:
// it names no camera and no person, but how busy a house is watched is nobody else's business.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { AppError } from '../base/error.ts'
import { transportHeaders } from './answer.ts'

export type Measurement = {
  /** Without the prefix `nightjar_`; a counter's ends in `_total`. */
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  readonly value: number
  /** The same of every measurement of this name, in values that differ. */
  readonly labels?: { readonly [label: string]: string }
}

export function registerMetrics(server: FastifyInstance, measure: () => readonly Measurement[]): void {
  let runtime: Registry | undefined
  server.get('/metrics', async (request, reply) => {
    if (!isFromThisMachine(request))
      throw new AppError('forbidden', 'metrics are available only from loopback addresses')
    runtime ??= createRuntimeMetrics()
    const text = `${await runtime.metrics()}\n${await writeMeasurements(measure())}`
    const { raw } = reply.hijack()
    raw.writeHead(200, { 'content-type': runtime.contentType, ...transportHeaders })
    raw.end(text)
  })
}

/** What a proxy on this machine hands on comes from elsewhere. */
function isFromThisMachine(request: FastifyRequest): boolean {
  const address = request.raw.socket.remoteAddress ?? ''
  const isLoopback = address === '::1' || /^(::ffff:)?127\./.test(address)
  return isLoopback && request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined
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
