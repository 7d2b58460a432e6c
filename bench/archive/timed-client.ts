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
}

export function openTimedClient(ca: string): TimedClient {
  const agent = new Agent({ keepAlive: true, ca })
  return {
    get: (url, headers = {}) => ask(agent, url, headers),
    [Symbol.dispose]: () => agent.destroy(),
  }
}

function ask(agent: Agent, url: string, headers: Readonly<Record<string, string>>): Promise<TimedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<TimedAnswer>()
  const begunMs = performance.now()
  const outgoing = request(url, { agent, headers })
  outgoing.on('error', reject)
  outgoing.on('response', (response) => {
    const chunks: Buffer[] = []
    let firstByteMs = 0
    response.on('data', (chunk: Buffer) => {
      if (chunks.length === 0) firstByteMs = performance.now() - begunMs
      chunks.push(chunk)
    })
    response.on('error', reject)
    response.on('end', () => {
      const totalMs = performance.now() - begunMs
      resolve({ status: response.statusCode!, body: Buffer.concat(chunks), firstByteMs, totalMs })
    })
  })
  outgoing.end()
  return promise
}
