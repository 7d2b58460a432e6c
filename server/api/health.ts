// GET /healthz: whether the server can answer. For load balancers and supervisors; says nothing about cameras.

import type { FastifyInstance } from 'fastify'
import type { Store } from '../store/store.ts'
import { sendJson } from './answer.ts'

export function registerHealth(server: FastifyInstance, store: Pick<Store, 'check'>): void {
  server.get('/healthz', async (_request, reply) => {
    await store.check()
    sendJson(reply, 200, '{"status":"ok"}')
  })
}
