// A third-party application on its own origin that receives the browser's redirect.

import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'

export type ForeignApp = AsyncDisposable & {
  readonly origin: string
  readonly redirectUri: string
  /** The query of each redirect, oldest first. */
  readonly calls: readonly URLSearchParams[]
}

type ForeignAppOptions = {
  readonly tls?: boolean
  /** URL that its start page shows in a frame. */
  readonly frame?: string
  /** URL that its callback redirects to, with its query. */
  readonly onward?: string
}

export async function openForeignApp({ tls, frame, onward }: ForeignAppOptions = {}): Promise<ForeignApp> {
  const calls: URLSearchParams[] = []
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://app')
    if (pathname === '/callback') {
      calls.push(searchParams)
      if (onward !== undefined) return void response.writeHead(302, { location: `${onward}?${searchParams}` }).end()
    }
    response.writeHead(pathname === '/favicon.ico' ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(frame === undefined ? '<h1>The app</h1>' : `<iframe src="${frame}"></iframe>`)
  }
  const server = tls ? createHttpsServer(await createIdentity(), answer) : createHttpServer(answer)
  await listen(server)
  const { port } = server.address() as AddressInfo
  const origin = `${tls ? 'https' : 'http'}://${tls ? 'localhost' : '127.0.0.1'}:${port}`
  return {
    origin,
    redirectUri: `${origin}/callback`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function createIdentity() {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })
  return { key, cert }
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
}
