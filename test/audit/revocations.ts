// An owner who makes tokens and revokes them while everything goes wrong. Once a server has said that a token is revoked, no
// server may let it in, from the time on that docs/design/cluster.md promises.

import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditServer } from './audit-cluster.ts'

export type Revoking = {
  readonly revoked: number
  /** How often a server refused a token that was revoked. */
  readonly refused: number
  readonly complaints: readonly string[]
}

/** Where a server is asked directly, as the balancer asks it. */
export type DirectServer = {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly from: string
}

type Revoked = { readonly token: string; readonly atMs: number }

const promisedMs = 1000
const pauseMs = 1000
/** A server that was away for as long may believe what it knew before. */
const watchedMs = 60_000

/** Goes on until the returned function is called, which asks every server for every token once more. */
export function startRevoking(server: AuditServer, servers: readonly DirectServer[]): () => Promise<Revoking> {
  const revoked: Revoked[] = []
  const complaints: string[] = []
  let refused = 0
  let isRevoking = true
  const revokeOne = async () => {
    const made = await server.request('/v1/me/tokens/', { method: 'POST', body: { name: 'audit' } })
    if (made.status !== 201) return
    const { id, token } = made.json as { readonly id: number; readonly token: string }
    // Known to whoever answers.
    await Promise.all(servers.map((each) => askDirectly(each, token)))
    const { status } = await server.request(`/v1/me/tokens/${id}/`, { method: 'DELETE' })
    if (status === 204) revoked.push({ token, atMs: performance.now() })
  }
  const check = async (some: readonly Revoked[]) => {
    for (const { token, atMs } of some)
      for (const each of servers) {
        const askedMs = performance.now()
        const status = await askDirectly(each, token)
        if (status === 401) refused++
        else if (status === 200)
          complaints.push(`${each.name} took a token ${Math.round(askedMs - atMs)} ms after its revocation`)
      }
  }
  const running = (async () => {
    while (isRevoking) {
      await revokeOne().catch(() => undefined)
      await sleep(pauseMs)
      const nowMs = performance.now()
      await check(revoked.filter(({ atMs }) => nowMs - atMs >= promisedMs && nowMs - atMs < watchedMs).slice(-3))
    }
  })()
  return async () => {
    isRevoking = false
    await running
    await sleep(promisedMs)
    await check(revoked)
    if (refused === 0) complaints.push('no revoked token was refused by anybody')
    return { revoked: revoked.length, refused, complaints }
  }
}

/** The status; undefined without an answer. */
function askDirectly({ host, port, from }: DirectServer, token: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const headers = { authorization: `PersonalAccessToken ${token}`, 'x-forwarded-proto': 'https' }
  const asked = request({ host, port, path: '/v1/me/', headers, localAddress: from, agent: false, timeout: 1500 })
  asked.on('timeout', () => asked.destroy(new Error('no answer')))
  asked.on('error', () => resolve(undefined))
  asked.on('response', (response) => {
    response.resume()
    resolve(response.statusCode)
  })
  asked.end()
  return promise
}
