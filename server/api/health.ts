// GET /healthz: whether the server can answer, and how far it is with files that were left open. For load balancers and supervisors; says
// nothing about cameras.

import type { FastifyInstance } from 'fastify'
import type { RepairProgress } from '../archive/background-repair.ts'
import { AppError } from '../base/error.ts'
import type { Store } from '../store/store.ts'
import { sendJson } from './answer.ts'
import { writeRepair } from './answers/storage.ts'

export function registerHealth(
  server: FastifyInstance,
  store: Pick<Store, 'check'>,
  readRepair: () => RepairProgress,
): void {
  let checking: Promise<void> | undefined
  /** Anybody may ask, as often as they like: the database is asked by one at a time. */
  const check = () => {
    checking ??= store.check().finally(() => {
      checking = undefined
    })
    return checking
  }
  server.get('/healthz', async (_request, reply) => {
    await check().catch((cause: unknown) => {
      throw new AppError('unavailable', 'the database does not answer', { cause })
    })
    const repair = writeRepair(readRepair())
    sendJson(reply, 200, JSON.stringify({ status: 'ok', ...(repair && { repair }) }))
  })
}
