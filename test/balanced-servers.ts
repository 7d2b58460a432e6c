// Several servers of one database behind a balancer that gives each connection to the next one, in place of the one server
// of a test: `npm test -- oauth --servers 2`. The first has the cameras, and commands run on its data folder.

import { rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createDatabase, dropDatabase, findPostgres, TemporaryPostgres } from './postgres/temporary-postgres.ts'
import { findOwnPort } from './support/own-port.ts'

/** A server that is started and ended, again and again. */
export type Running = {
  readonly logLines: string[]
  /** Before the first start; the environment of commands. */
  prepare?(): Promise<Readonly<Record<string, string>>>
  start(args: readonly string[]): Promise<{ url: string; ca?: string | undefined; setup_code?: string | undefined }>
  /** Resolves with the exit code when it has ended. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** After the last end. */
  close?(): Promise<void>
}

/** In place of the server of a test, if several are wanted. */
export function balance(createRunning: () => Running): Running {
  const count = Number(process.env.NIGHTJAR_TEST_SERVERS ?? 1)
  return count > 1 ? createBalanced(Array.from({ length: count }, () => createRunning())) : createRunning()
}

function createBalanced(servers: readonly Running[]): Running {
  const [first] = servers as [Running]
  const logLines: string[] = []
  const folders: string[] = []
  const ports: number[] = []
  const balancer = createBalancer(() => ports)
  let database = ''
  let postgres: TemporaryPostgres | undefined
  let adminUrl = ''
  let peerPort = 0
  for (const [i, { logLines: own }] of servers.entries())
    own.push = (...lines) => logLines.push(...lines.map((line) => `n${i + 1} ${line}`))
  return {
    logLines,
    async prepare() {
      postgres = process.env.NIGHTJAR_TEST_POSTGRES ? undefined : await TemporaryPostgres.open(findPostgres()!)
      adminUrl = process.env.NIGHTJAR_TEST_POSTGRES ?? postgres!.url('postgres')
      database = await createDatabase(adminUrl)
      await balancer.listen()
      peerPort = await findOwnPort()
      return { NIGHTJAR_DATABASE: database }
    },
    async start(args) {
      const dataDir = args[args.indexOf('--data') + 1]!
      const url = `https://localhost:${balancer.port}`
      const ready = []
      for (const [i, server] of servers.entries()) {
        ports[i] ??= await findOwnPort()
        const folder = i === 0 ? dataDir : `${dataDir}-${i + 1}`
        if (!folders.includes(folder)) folders.push(folder)
        const role =
          i === 0
            ? ['--peer-address', `127.0.0.1:${peerPort}`]
            : ['--no-cameras', '--secret-key-file', join(dataDir, 'secret.key'), ...shareCertificate(dataDir)]
        const own = ['--data', folder, '--port', String(ports[i]), '--database', database, '--node-name', `n${i + 1}`]
        ready.push(await server.start(['--public-url', url, ...args, ...own, ...role]))
      }
      return { ...ready[0]!, url }
    },
    async end(signal) {
      await Promise.all(servers.slice(1).map((server) => server.end(signal)))
      return first.end(signal)
    },
    async close() {
      await balancer.close()
      for (const folder of folders.slice(1)) await rm(folder, { recursive: true, force: true })
      await dropDatabase(adminUrl, database)
      await postgres?.close()
    },
  }
}

function shareCertificate(dataDir: string): string[] {
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(dataDir, 'tls', name)) as [string, string]
  return ['--tls-cert', cert, '--tls-key', key]
}

function createBalancer(listPorts: () => readonly number[]) {
  const sockets = new Set<Socket>()
  let next = 0
  const server: Server = createServer({ pauseOnConnect: false }, (client) => {
    const ports = listPorts()
    const socket = connect(ports[next++ % ports.length]!, '127.0.0.1')
    for (const [one, other] of [
      [client, socket],
      [socket, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  return {
    get port() {
      return (server.address() as AddressInfo).port
    },
    listen: () => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
