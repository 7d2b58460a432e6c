// HAProxy as docs/guide/cluster.md configures it, in front of three servers on this machine.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openOwnIdentity } from '../../server/api/transport/certificate.ts'
import { systemClock } from '../../server/base/clock.ts'
import { findOwnPort } from '../support/own-port.ts'

export type GuideBalancer = AsyncDisposable & {
  readonly port: number
  readonly url: string
  /** Of its certificate, PEM. */
  readonly ca: string
  /** Where it expects the servers n1, n2 and n3. */
  readonly servers: readonly { readonly host: string; readonly port: number }[]
  /** Call once the servers are there. */
  start(): void
}

/** `own` is an address of this machine that it asks the servers from, which are at the addresses `hosts`. */
export async function openGuideBalancer(own = '127.0.0.1', hosts = [own, own, own]): Promise<GuideBalancer> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(await mkdtempDisposable(join(tmpdir(), 'nightjar-haproxy-')))
  const { cert, key } = await openOwnIdentity({ dataDir: join(folder.path, 'made'), hosts: [], clock: systemClock })
  const pem = join(folder.path, 'cameras.pem')
  await writeFile(pem, `${cert}\n${key}`)
  const ports = await Promise.all(Array.from({ length: 5 }, () => findOwnPort()))
  const [port, plainPort, ...serverPorts] = ports as [number, number, ...number[]]
  const servers = hosts.map((host, i) => ({ host, port: serverPorts[i]! }))
  const guide = await readFile(new URL('../../docs/guide/cluster.md', import.meta.url), 'utf8')
  const config = guide.split('```').find((block) => block.includes('frontend https'))!
  const fitted = servers
    .reduce((text, { host, port }, i) => text.replaceAll(`10.0.0.${11 + i}:8443`, `${host}:${port}`), config)
    .replace('/etc/haproxy/cameras.pem', pem)
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace('bind :80', `bind 127.0.0.1:${plainPort}`)
  const file = join(folder.path, 'haproxy.cfg')
  await writeFile(
    file,
    `defaults\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1m\n  source ${own}\n${fitted}`,
  )
  const held = opened.move()
  return {
    ...{ port, url: `https://localhost:${port}`, ca: cert, servers },
    start() {
      const haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
      held.defer(async () => {
        const ended = haproxy.exitCode === null && once(haproxy, 'exit')
        haproxy.kill('SIGTERM')
        await ended
      })
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}
