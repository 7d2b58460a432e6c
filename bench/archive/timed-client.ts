// HTTPS requests on kept connections, timed from the asking to the first and the last byte of the answer.

import { Agent, request } from 'node:https'

export type TimedAnswer = {
  readonly status: number
  readonly body: Buffer
  readonly firstByteMs: number
  readonly totalMs: number
}

export type TimedClient = Disposable & {
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<TimedAnswer>
  /** Without keeping the body, whose memory the client would have to collect while it measures. */
  count(url: string, headers?: Readonly<Record<string, string>>): Promise<Omit<TimedAnswer, 'body'> & { bytes: number }>
}

export function openTimedClient(ca: string): TimedClient {
  const agent = new Agent({ keepAlive: true, ca })
  return {
    async get(url, headers = {}) {
      const chunks: Buffer[] = []
      const answer = await ask(agent, url, { headers, take: (chunk) => chunks.push(chunk) })
      return { ...answer, body: Buffer.concat(chunks) }
    },
    async count(url, headers = {}) {
      let bytes = 0
      const take = (chunk: Buffer) => {
        bytes += chunk.length
      }
      return { ...(await ask(agent, url, { headers, take })), bytes }
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

type Asked = { readonly headers: Readonly<Record<string, string>>; take(chunk: Buffer): void }

function ask(agent: Agent, url: string, { headers, take }: Asked): Promise<Omit<TimedAnswer, 'body'>> {
  const { promise, resolve, reject } = Promise.withResolvers<Omit<TimedAnswer, 'body'>>()
  const begunMs = performance.now()
  const outgoing = request(url, { agent, headers })
  outgoing.on('error', reject)
  outgoing.on('response', (response) => {
    let firstByteMs = 0
    response.on('data', (chunk: Buffer) => {
      if (firstByteMs === 0) firstByteMs = performance.now() - begunMs
      take(chunk)
    })
    response.on('error', reject)
    response.on('end', () => {
      const totalMs = performance.now() - begunMs
      resolve({ status: response.statusCode!, firstByteMs, totalMs })
    })
  })
  outgoing.end()
  return promise
}
