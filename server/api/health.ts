// GET /healthz: whether the server can answer and goes on to, and the progress of repairing files that were left open. For load
// balancers and supervisors; reveals nothing about cameras.

import type { FastifyInstance } from 'fastify'
import type { RepairProgress } from '../archive/background-repair.ts'
import { AppError } from '../base/error.ts'
import { SingleFlight } from '../base/single-flight.ts'
import type { Store } from '../store/store.ts'
import { sendJson } from './answer.ts'
import { writeRepair } from './answers/storage.ts'
import { HttpError } from './problem.ts'

export function registerHealth(
  server: FastifyInstance,
  store: Pick<Store, 'check'>,
  readRepair: (() => RepairProgress) | undefined,
  isDraining: () => boolean,
): void {
  // Anybody may call this at any rate, so only one database query runs at a time.
  const checking = new SingleFlight<void>()
  server.get('/healthz', async (_request, reply) => {
    await checking
      .run(() => store.check())
      .catch((cause: unknown) => {
        throw new AppError('unavailable', 'the database does not answer', { cause })
      })
    if (isDraining()) throw new HttpError(503, 'unavailable', 'The server is stopping.', { 'retry-after': '5' })
    const repair = readRepair && writeRepair(readRepair())
    sendJson(reply, 200, JSON.stringify({ status: 'ok', ...(repair && { repair }) }))
  })
}
