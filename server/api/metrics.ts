// GET /metrics in the text format of Prometheus. The values are read from the `stats()` of each part at every request.
// Only this machine may read them. They name no camera or person, but show how much cameras are watched.

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

export function registerMetrics(server: FastifyInstance, measure: () => readonly Measurement[]): void {
  let runtime: Registry | undefined
  server.get('/metrics', async (request, reply) => {
    if (!isFromThisMachine(request))
      throw new AppError('forbidden', 'metrics are available only from loopback addresses')
    runtime ??= createRuntimeMetrics()
    const text = `${await runtime.metrics()}\n${await writeMeasurements(measure())}`
    const { raw } = reply.hijack()
    raw.writeHead(200, { 'content-type': runtime.contentType })
    raw.end(text)
  })
}

/** Requests that a proxy on this machine forwards come from elsewhere. */
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
