// A real S3 store on loopback for tests: Ceph's radosgw, started from Debian's packages, behind a proxy that can fail.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Another store may be tried by a script that does the same. */
const script = process.env.NIGHTJAR_TEST_S3_SCRIPT ?? fileURLToPath(new URL('ceph-rgw.sh', import.meta.url))

/** Returns the reason for `skip` if the store is not installed; otherwise false. */
export function whyNoStore(): string | false {
  const { status } = spawnSync('radosgw', ['--version'])
  return status === 0
    ? false
    : 'Ceph is not installed: apt-get install --no-install-recommends ceph-mon ceph-osd radosgw'
}

export type StoreFault =
  /** Answers with this status and an S3 error. */
  | { readonly kind: 'status'; readonly status: number; readonly code: string }
  /** Sends half of the body, then closes the connection. */
  | { readonly kind: 'cut' }
  /** Sends half of the body as if it were all of it. */
  | { readonly kind: 'truncate' }
  /** Accepts the request, and answers late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Takes half of the request's body, then closes the connection. */
  | { readonly kind: 'cut_request' }
  /** Answers with an ETag that is no MD5, as stores do that encrypt. */
  | { readonly kind: 'etag' }
  /** Closes each connection at once. */
  | { readonly kind: 'down' }

export type S3Store = AsyncDisposable & {
  /** The address of a bucket for `place add`; `options` as in a query. */
  url(prefix: string, options?: string): string
  readonly environment: Readonly<Record<string, string>>
  /** Requests that were forwarded or failed, as "GET /bucket/key". */
  readonly requests: string[]
  /** Called for each request; undefined forwards it. */
  setFault(choose: (method: string, path: string) => StoreFault | undefined): void
}

const bucket = 'footage'

/** Takes two seconds. `host`: an address of this machine, to be asked at. */
export async function openS3Store(host = '127.0.0.1'): Promise<S3Store> {
  const folder = mkdtempSync(join(tmpdir(), 'nightjar-s3-'))
  const store = spawn(script, ['run', folder, bucket], {
    env: { ...process.env, STORE: 'memstore' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors: string[] = []
  store.stderr.on('data', (text) => errors.push(String(text)))
  const line = await Promise.race([
    once(createInterface(store.stdout), 'line').then(([text]) => String(text)),
    once(store, 'exit').then(() => Promise.reject(new Error(`the S3 store ended: ${errors.join('')}`))),
  ])
  const { endpoint, accessKeyId, secretAccessKey } = JSON.parse(line) as Record<string, string>
  const proxy = await openProxy(endpoint!, host)
  return {
    url: (prefix, options = '') => `s3://${bucket}/${prefix}?endpoint=${proxy.url}${options && `&${options}`}`,
    environment: {
      ...{ AWS_ACCESS_KEY_ID: accessKeyId!, AWS_SECRET_ACCESS_KEY: secretAccessKey! },
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    requests: proxy.requests,
    setFault: proxy.setFault,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      store.kill('SIGTERM')
      await once(store, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function openProxy(endpoint: string, host: string) {
  const target = new URL(endpoint)
  const requests: string[] = []
  let choose: (method: string, path: string) => StoreFault | undefined = () => undefined
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = '', url = '' } = incoming
    requests.push(`${method} ${url}`)
    const fault = choose(method, url)
    if (fault?.kind === 'down') return void incoming.socket.destroy()
    if (fault?.kind === 'status') {
      incoming.resume()
      const body = `<?xml version="1.0"?><Error><Code>${fault.code}</Code><Message>test</Message></Error>`
      outgoing.writeHead(fault.status, { 'content-type': 'application/xml', 'content-length': body.length })
      return void outgoing.end(method === 'HEAD' ? undefined : body)
    }
    if (fault?.kind === 'cut_request') {
      let taken = 0
      const whole = Number(incoming.headers['content-length'] ?? 0)
      incoming.on('data', (chunk: Buffer) => {
        taken += chunk.length
        if (taken >= whole / 2) incoming.socket.destroy()
      })
      return
    }
    setTimeout(forward, fault?.kind === 'delay' ? fault.ms : 0, { incoming, outgoing, fault })
  }
  type Forwarded = { incoming: IncomingMessage; outgoing: ServerResponse; fault: StoreFault | undefined }
  const forward = ({ incoming, outgoing, fault }: Forwarded) => {
    const { method, url, headers } = incoming
    const { hostname, port } = target
    const onward = request({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
      if (fault?.kind === 'cut' || fault?.kind === 'truncate') {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => {
          const body = Buffer.concat(chunks)
          const half = body.subarray(0, Math.floor(body.length / 2))
          const length = fault.kind === 'cut' ? body.length : half.length
          outgoing.writeHead(answer.statusCode!, { ...answer.headers, 'content-length': length })
          outgoing.write(half, () => (fault.kind === 'cut' ? incoming.socket.destroy() : outgoing.end()))
        })
        return
      }
      // Node would send the end of a body that there is none of.
      if (method === 'HEAD') delete answer.headers['transfer-encoding']
      const etag = fault?.kind === 'etag' && { etag: '"0123456789abcdef0123456789abcdef-2"' }
      outgoing.writeHead(answer.statusCode!, { ...answer.headers, ...etag })
      answer.pipe(outgoing)
    })
    // Swift sends the end of a body after HEAD, too.
    onward.on('error', () => outgoing.headersSent || incoming.socket.destroy())
    incoming.pipe(onward)
  }
  const server = createServer(handle)
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    setFault(next: typeof choose) {
      choose = next
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
