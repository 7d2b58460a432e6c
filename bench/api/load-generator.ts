// Asks for the same thing again and again, on many connections at once, each waiting for its answer before it asks again.
//
// A process of its own (started by openLoadGenerator), so that it takes no time from the server it measures but that of the
// machine, and takes the same from each.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { percentile } from '../statistics.ts'
import { AnswerReader } from './answer-reader.ts'

export type Load = {
  readonly port: number
  /** PEM of the certificate to trust; its name must be `localhost`. */
  readonly ca: string
  readonly path: string
  readonly authorization: string
  readonly connections: number
  readonly warmUpMs: number
  readonly measuredMs: number
}

export type LoadResult = {
  readonly requests: number
  readonly elapsedMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of the generator. */
  readonly cpuMs: number
  /** Protocol and cipher that were agreed on. */
  readonly tls: string
}

export type LoadGenerator = Disposable & {
  /** One at a time. `onMeasuring`: the warm-up is over. Throws when a connection breaks or an answer is not 200. */
  run(load: Load, onMeasuring: () => void): Promise<LoadResult>
}

type Reply = { readonly measuring: true } | { readonly result: LoadResult } | { readonly failure: string }

const self = fileURLToPath(import.meta.url)

export function openLoadGenerator(): LoadGenerator {
  const child = fork(self, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  return {
    async run(load, onMeasuring) {
      child.send(load)
      while (true) {
        const [reply] = (await once(child, 'message')) as [Reply]
        if ('failure' in reply) throw new Error(reply.failure)
        if ('result' in reply) return reply.result
        onMeasuring()
      }
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}

async function generate(load: Load, onMeasuring: () => void): Promise<LoadResult> {
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => openSocket(load)))
  const request = Buffer.from(
    `GET ${load.path} HTTP/1.1\r\nHost: localhost:${load.port}\r\nAuthorization: ${load.authorization}\r\n\r\n`,
  )
  const latenciesMs: number[] = []
  let isMeasuring = false
  let isOver = false
  const ask = (socket: TLSSocket) =>
    new Promise<void>((resolve, reject) => {
      const reader = new AnswerReader()
      let askedMs = performance.now()
      socket.on('data', (bytes: Buffer) => {
        try {
          if (reader.push(bytes) === 0) return
        } catch (error) {
          reject(error)
          return
        }
        const nowMs = performance.now()
        if (isMeasuring) latenciesMs.push(nowMs - askedMs)
        askedMs = nowMs
        if (isOver) resolve()
        else socket.write(request)
      })
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('the server closed a connection')))
      socket.write(request)
    })
  const asking = Promise.all(sockets.map(ask))
  const measuring = async () => {
    await new Promise((resolve) => setTimeout(resolve, load.warmUpMs))
    onMeasuring()
    isMeasuring = true
    const startMs = performance.now()
    const cpu = process.cpuUsage()
    await new Promise((resolve) => setTimeout(resolve, load.measuredMs))
    const { user, system } = process.cpuUsage(cpu)
    isMeasuring = false
    isOver = true
    return { elapsedMs: performance.now() - startMs, cpuMs: (user + system) / 1000 }
  }
  const [{ elapsedMs, cpuMs }] = await Promise.all([measuring(), asking])
  const tls = `${sockets[0]!.getProtocol()}, ${sockets[0]!.getCipher().standardName}`
  for (const socket of sockets) socket.removeAllListeners().destroy()
  return {
    tls,
    requests: latenciesMs.length,
    elapsedMs,
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
    cpuMs,
  }
}

async function openSocket({ port, ca }: Load): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', servername: 'localhost', port, ca, ALPNProtocols: ['http/1.1'] })
  socket.setNoDelay(true)
  await once(socket, 'secureConnect')
  return socket
}

if (process.argv[1] === self) {
  const send = (reply: Reply) => process.send!(reply)
  process.on('message', (load: Load) => {
    generate(load, () => send({ measuring: true })).then(
      (result) => send({ result }),
      (error: Error) => send({ failure: error.message }),
    )
  })
  process.on('disconnect', () => process.exit())
}
