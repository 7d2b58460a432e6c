// The network between a camera and the server: one TCP port that leads to the camera, and what can happen to what passes through it.

import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { findOwnPort } from '../support/own-port.ts'

export type Link = AsyncDisposable & {
  readonly port: number
  /** When connections came, Unix milliseconds. */
  readonly connectedAt: readonly number[]
  /** How many of them stand. */
  readonly open: number
  /** Whose connection it is that comes to the camera from this port of the link; an address. */
  clientOf(port: number): string | undefined
  /** Resets the connections there are. */
  cut(): void
  /** Lets half of what the camera sends next through, and cuts; resolves when that is done, as those below do. */
  cutInside(): Promise<void>
  /** Cuts, and refuses connections for so long; resolves when it takes them again. */
  refuse(ms: number): Promise<void>
  /** Accepts connections that lead nowhere for so long, and cuts those there are. */
  swallow(ms: number): Promise<void>
  /** Holds everything back for so long; then it comes at once. */
  hold(ms: number): Promise<void>
  /** Puts bytes between those of the camera, at the end of what it sends next. */
  insert(bytes: Uint8Array): Promise<void>
  /** Leaves `count` bytes out of what the camera sends next. */
  remove(count: number, random: () => number): Promise<void>
  /** Turns `count` bits of what the camera sends next. */
  flip(count: number, random: () => number): Promise<void>
}

type Spoil = (bytes: Buffer, pair: Pair) => Buffer

type Pair = { readonly client: Socket; readonly camera: Socket }

/** `host`: the address of this machine that clients connect to. */
export async function openLink(cameraPort: number, host = '127.0.0.1'): Promise<Link> {
  const pairs = new Set<Pair>()
  const idle = new Set<Socket>()
  const held = new AbortController()
  const connectedAt: number[] = []
  let isHolding = false
  let isSwallowing = false
  let refusals = 0
  /** Done to the next bytes of any connection, once. */
  let spoil: Spoil | undefined
  const spoilNext = (next: Spoil): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    spoil = (bytes, pair) => {
      resolve()
      return next(bytes, pair)
    }
    return promise
  }

  const server = createServer((client) => {
    connectedAt.push(Date.now())
    client.on('error', () => {})
    if (isSwallowing) {
      idle.add(client)
      return
    }
    const camera = connect(cameraPort, '127.0.0.1')
    const pair = { client, camera }
    pairs.add(pair)
    camera.on('error', () => {})
    camera.on('data', (bytes: Buffer) => {
      if (client.destroyed) return
      // Keep-alives and answers are too short to be worth spoiling.
      const isHit = spoil !== undefined && bytes.length > 200
      const passed = isHit ? spoil!(bytes, pair) : bytes
      if (isHit) spoil = undefined
      client.write(passed)
    })
    client.on('data', (bytes) => camera.write(bytes))
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      camera.destroy()
    }
    client.on('close', end)
    camera.on('close', end)
    if (isHolding) pause(pair)
  })
  const port = await findOwnPort(host)
  await listen(server, port, host)
  const cut = () => {
    for (const { client } of pairs) client.resetAndDestroy()
    for (const client of idle) client.destroy()
    idle.clear()
  }
  const rest = (ms: number) => sleep(ms, undefined, { signal: held.signal }).catch(() => {})
  return {
    port,
    connectedAt,
    get open() {
      return pairs.size
    },
    clientOf: (port) => [...pairs].find(({ camera }) => camera.localPort === port)?.client.remoteAddress,
    cut,
    cutInside: () =>
      spoilNext((bytes, { client }) => {
        setImmediate(() => client.destroy())
        return bytes.subarray(0, bytes.length >> 1)
      }),
    async refuse(ms) {
      refusals++
      if (server.listening) {
        const closed = once(server, 'close')
        server.close()
        cut()
        await closed
      }
      await rest(ms)
      // Two at once: until the end of both.
      if (--refusals === 0 && !held.signal.aborted) await listen(server, port, host)
    },
    async swallow(ms) {
      isSwallowing = true
      cut()
      await rest(ms)
      isSwallowing = false
      cut()
    },
    async hold(ms) {
      isHolding = true
      for (const pair of pairs) pause(pair)
      await rest(ms)
      isHolding = false
      for (const { client, camera } of pairs) {
        client.resume()
        camera.resume()
      }
    },
    insert: (bytes) => spoilNext((passed) => Buffer.concat([passed, bytes])),
    remove: (count, random) =>
      spoilNext((bytes) => {
        const at = Math.floor(random() * Math.max(1, bytes.length - count))
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + count)])
      }),
    flip: (count, random) =>
      spoilNext((bytes) => {
        const spoilt = Buffer.from(bytes)
        for (let i = 0; i < count; i++) spoilt[Math.floor(random() * spoilt.length)]! ^= 1 << Math.floor(random() * 8)
        return spoilt
      }),
    async [Symbol.asyncDispose]() {
      held.abort()
      const closed = server.listening ? once(server, 'close') : undefined
      server.close()
      cut()
      await closed
    },
  }
}

function pause({ client, camera }: Pair): void {
  client.pause()
  camera.pause()
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}
