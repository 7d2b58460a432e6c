// GET /healthz: whether the server can answer. For load balancers and supervisors; says nothing about cameras.

import type { FastifyInstance } from 'fastify'
import { AppError } from '../base/error.ts'
import type { Store } from '../store/store.ts'
import { sendJson } from './answer.ts'

export function registerHealth(server: FastifyInstance, store: Pick<Store, 'check'>): void {
  server.get('/healthz', async (_request, reply) => {
    await store.check().catch((cause: unknown) => {
      throw new AppError('unavailable', 'the database does not answer', { cause })
    })
    sendJson(reply, 200, '{"status":"ok"}')
  })
}
