// Sends requests that are not all alike: refresh after refresh, each with the token of the answer before, changes of an account, and
// floods of log-ins. A process of its own, started by openRequestLoad.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request as httpsRequest } from 'node:https'
import { fileURLToPath } from 'node:url'
import { clientId, emailOf, meWithWritePath, password } from './auth-server.ts'

type Target = { readonly port: number; readonly ca: string }

export type RequestOrder = Target &
  (
    | {
        readonly kind: 'refresh'
        /** One chain each, one request of each on its way at a time. */
        readonly refreshTokens: readonly string[]
        readonly warmUpMs: number
        readonly measuredMs: number
      }
    | {
        readonly kind: 'write'
        readonly accessToken: string
        readonly connections: number
        readonly warmUpMs: number
        readonly measuredMs: number
      }
    | {
        readonly kind: 'flood'
        readonly logins: number
        /** False: on connections that are kept from flood to flood, and were there before the first. */
        readonly isConnecting: boolean
        readonly measuredMs: number
      }
    | {
        /** Requests sent at fixed moments, however long others take. */
        readonly kind: 'probe'
        readonly accessToken: string
        readonly path: string
        readonly perSecond: number
        readonly measuredMs: number
      }
  )

export type RequestResult = {
  /** Answered in the measured time, by status. */
  readonly statuses: Readonly<Record<string, number>>
  readonly elapsedMs: number
  /** Of a probe: from the moment each was due to the end of its answer. */
  readonly latenciesMs?: readonly number[]
}

export type RequestLoad = Disposable & {
  /** One at a time. `onReady`: connections are there, and it begins. */
  run(order: RequestOrder, onReady?: () => void): Promise<RequestResult>
}

type Reply = { readonly ready: true } | { readonly result: RequestResult } | { readonly failure: string }

/** Made before the first request counts: a probe is somebody who was there already. */
const probeConnections = 16

const self = fileURLToPath(import.meta.url)

export function openRequestLoad(): RequestLoad {
  const child = fork(self, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  return {
    async run(order, onReady = () => {}) {
      child.send(order)
      while (true) {
        const [reply] = (await once(child, 'message')) as [Reply]
        if ('failure' in reply) throw new Error(reply.failure)
        if ('result' in reply) return reply.result
        onReady()
      }
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}

async function generate(order: RequestOrder, onReady: () => void): Promise<RequestResult> {
  const agent = new Agent({ ca: order.ca, keepAlive: true, maxFreeSockets: 1000, scheduling: 'fifo' })
  try {
    if (order.kind === 'flood') return await flood(order, agent, onReady)
    if (order.kind === 'probe') return await probe(order, onReady)
    const steps = order.kind === 'refresh' ? order.refreshTokens.map(createRefresh) : createWrites(order)
    return await repeat(steps, order, agent)
  } finally {
    agent.destroy()
  }
}

type Step = (send: Send) => Promise<Answer>
type Answer = { readonly status: number; readonly text: string }
type Send = (path: string, headers: Record<string, string>, body: string) => Promise<Answer>

function createRefresh(first: string): Step {
  let refreshToken = first
  return async (send) => {
    const answer = await postForm(send, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshToken,
    })
    if (answer.status !== 200) throw new Error(`a refresh was answered with ${answer.status}: ${answer.text}`)
    refreshToken = (JSON.parse(answer.text) as { refresh_token: string }).refresh_token
    return answer
  }
}

function createWrites({
  accessToken,
  connections,
}: {
  readonly accessToken: string
  readonly connections: number
}): Step[] {
  return Array.from({ length: connections }, () => async (send: Send) => {
    const answer = await send(meWithWritePath, { authorization: `Bearer ${accessToken}` }, '')
    if (answer.status !== 200) throw new Error(`a write was answered with ${answer.status}: ${answer.text}`)
    JSON.parse(answer.text)
    return answer
  })
}

async function repeat(
  steps: readonly Step[],
  { warmUpMs, measuredMs, ...target }: Target & { readonly warmUpMs: number; readonly measuredMs: number },
  agent: Agent,
): Promise<RequestResult> {
  const send = createSend(target, agent)
  const statuses: Record<string, number> = {}
  const startMs = performance.now() + warmUpMs
  const endMs = startMs + measuredMs
  await Promise.all(
    steps.map(async (step) => {
      while (performance.now() < endMs) {
        const { status } = await step(send)
        const nowMs = performance.now()
        if (nowMs >= startMs && nowMs < endMs) statuses[status] = (statuses[status] ?? 0) + 1
      }
    }),
  )
  return { statuses, elapsedMs: measuredMs }
}

/** All at once, and again as soon as all are answered. */
async function flood(
  { logins, isConnecting, measuredMs, ...target }: Extract<RequestOrder, { kind: 'flood' }>,
  kept: Agent,
  onReady: () => void,
): Promise<RequestResult> {
  const statuses: Record<string, number> = {}
  if (!isConnecting) {
    const send = createSend(target, kept, 'GET')
    await Promise.all(Array.from({ length: logins }, () => send('/healthz', {}, '')))
  }
  onReady()
  const startMs = performance.now()
  while (performance.now() - startMs < measuredMs) {
    const agent = isConnecting ? new Agent({ ca: target.ca }) : kept
    const send = createSend(target, agent)
    await Promise.all(
      Array.from({ length: logins }, async (_, i) => {
        const form = { grant_type: 'password', client_id: clientId, username: emailOf(i), password }
        const { status } = await postForm(send, form)
        statuses[status] = (statuses[status] ?? 0) + 1
      }),
    )
    if (isConnecting) agent.destroy()
  }
  return { statuses, elapsedMs: performance.now() - startMs }
}

async function probe(
  { accessToken, path, perSecond, measuredMs, ...target }: Extract<RequestOrder, { kind: 'probe' }>,
  onReady: () => void,
): Promise<RequestResult> {
  const agent = new Agent({ ca: target.ca, keepAlive: true, maxSockets: probeConnections })
  const send = createSend(target, agent, 'GET')
  const ask = () => send(path, { authorization: `Bearer ${accessToken}` }, '')
  await Promise.all(Array.from({ length: probeConnections }, ask))
  onReady()
  const statuses: Record<string, number> = {}
  const latenciesMs: number[] = []
  const startMs = performance.now()
  const asked: Promise<void>[] = []
  for (let i = 0; (i * 1000) / perSecond < measuredMs; i++) {
    const dueMs = startMs + (i * 1000) / perSecond
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const askNow = async () => {
      const { status } = await ask()
      latenciesMs.push(performance.now() - dueMs)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    asked.push(askNow())
  }
  await Promise.all(asked)
  agent.destroy()
  return { statuses, elapsedMs: performance.now() - startMs, latenciesMs }
}

function postForm(send: Send, form: Record<string, string>): Promise<Answer> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return send('/oauth/token/', headers, new URLSearchParams(form).toString())
}

function createSend({ port }: Pick<Target, 'port'>, agent: Agent, method = 'POST'): Send {
  return (path, headers, body) =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', servername: 'localhost', port, path, agent, method }
      const length = { 'content-length': Buffer.byteLength(body), host: `localhost:${port}` }
      httpsRequest({ ...options, headers: { ...headers, ...length } }, async (response) => {
        try {
          let text = ''
          for await (const bytes of response) text += bytes
          resolve({ status: response.statusCode!, text })
        } catch (error) {
          reject(error)
        }
      })
        .on('error', reject)
        .end(body)
    })
}

if (process.argv[1] === self) {
  process.on('message', (order: RequestOrder) => {
    const send = (reply: Reply) => process.send!(reply)
    generate(order, () => send({ ready: true })).then(
      (result) => send({ result }),
      (error: Error) => send({ failure: error.message }),
    )
  })
  process.on('disconnect', () => process.exit())
}
