// The public interface as a foreign program uses it: one kept connection, a token, JSON and byte ranges. It knows nothing of
// the server's code.

import { Agent, request } from 'node:https'

export type HttpReader = Disposable & {
  /** An answer of the interface; rejects unless it is 200. */
  getJson<T>(path: string): Promise<T>
  /** Any address that an answer named, without the token; `range` is a pair of first and last byte. */
  getBytes(url: string, range?: readonly [first: number, last: number]): Promise<Buffer>
  /** An answer without an end, on a connection of its own. */
  openStream(url: string, onBytes: (bytes: Buffer) => void): { readonly isEnded: boolean; end(): void }
}

export type HttpAccess = { readonly url: string; readonly ca: string; readonly token: string }

const timeoutMs = 60_000

export function openHttpReader({ url: base, ca, token }: HttpAccess): HttpReader {
  const agent = new Agent({ keepAlive: true, maxSockets: 2, ca })
  const get = (url: URL, headers: Record<string, string>, expected: number): Promise<Buffer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const asked = request(url, { agent, headers, timeout: timeoutMs })
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    asked.on('error', (error) => reject(new Error(`${url.pathname}: ${error.message}`)))
    asked.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', (error) => reject(new Error(`${url.pathname}: ${error.message}`)))
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        if (response.statusCode === expected) resolve(bytes)
        else
          reject(
            new Error(`${url.pathname}: ${response.statusCode} ${bytes.toString('utf8', 0, 300)}, not ${expected}`),
          )
      })
    })
    asked.end()
    return promise
  }
  return {
    async getJson<T>(path: string): Promise<T> {
      const bytes = await get(new URL(path, base), { authorization: `PersonalAccessToken ${token}` }, 200)
      return JSON.parse(bytes.toString()) as T
    },
    getBytes: (url, range) =>
      range ? get(new URL(url), { range: `bytes=${range[0]}-${range[1]}` }, 206) : get(new URL(url), {}, 200),
    openStream(url, onBytes) {
      let isEnded = false
      const end = () => {
        isEnded = true
      }
      const asked = request(url, { ca, agent: false }, (response) => {
        response.on('data', onBytes)
        response.on('error', end)
        response.on('close', end)
      })
      asked.on('error', end)
      asked.end()
      return {
        get isEnded() {
          return isEnded
        },
        end: () => asked.destroy(),
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}
