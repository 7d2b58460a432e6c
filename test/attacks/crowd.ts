// The attackers of crowd-run.ts, in a thread: each repeats one expensive operation from an IP address of its own until
// the time is up, and counts the responses.

import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent, request } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'

export type CrowdOrders = {
  readonly url: string
  readonly ca: string
  /** Access tokens. */
  readonly account: string
  readonly guest: string
  readonly sharedIds: readonly number[]
  readonly clientId: string
  readonly forMs: number
}

/** How often each attack got each response: a status or `closed`. */
export type CrowdTally = { readonly [attack: string]: { [answer: string]: number } }

type Ask = (
  path: string,
  options?: { method?: string; body?: object; form?: Record<string, string>; token?: string },
) => Promise<{ status: number; text: string }>

type Attacker = {
  readonly localAddress: string
  readonly ask: Ask
  readonly isOver: () => boolean
  readonly count: (answer: string | number) => void
} & CrowdOrders

const keptText = 200_000

const attacks: { readonly [name: string]: (attacker: Attacker) => Promise<void> } = {
  /** The account has as many cameras as allowed; its list is requested with ever-changing parameters. */
  'the account: long lists': async ({ ask, isOver, count, account }) => {
    const token = account
    const more = { name: 'One more', url: 'rtsp://127.0.0.1:9/' }
    const add = async () => {
      for (let i = 0; i < 20; i++)
        count(`added ${(await ask('/v1/cameras/', { token, method: 'POST', body: more })).status}`)
    }
    let i = 0
    const list = async () => {
      i++
      count((await ask(`/v1/cameras/?limit=1000&${i % 2 ? `_=${i}` : `max_width=${i}`}`, { token })).status)
    }
    await Promise.all([add(), many(8, isOver, list)])
  },
  'the account: slow names': async ({ ask, isOver, count, account }) => {
    const token = account
    const { text } = await ask('/v1/cameras/?limit=1', { token })
    const [, id] = /"id":(\d+)/.exec(text)!
    let i = 0
    await many(4, isOver, async () => {
      const url = `rtsp://n${i++}.slow.example/`
      const slow =
        i % 5 === 0
          ? ask('/v1/cameras/stream-detection/', { token, method: 'POST', body: { url } })
          : ask(`/v1/cameras/${id}/`, { token, method: 'PUT', body: { url } })
      count((await slow).status)
    })
  },
  'the account: log-ins': ({ ask, isOver, count, clientId }) =>
    many(10, isOver, async (i) => {
      const form = {
        grant_type: 'password',
        client_id: clientId,
        username: i % 2 ? 'account@example.com' : 'owner@example.com',
        password: `guess ${i} and more`,
      }
      count((await ask('/oauth/token/', { method: 'POST', form })).status)
    }),
  'the guest: images of every width': async ({ ask, isOver, count, guest, sharedIds }) => {
    let i = 0
    await many(12, isOver, async () => {
      const id = sharedIds[i++ % sharedIds.length]
      const { text } = await ask(`/v1/shared-cameras/${id}/?max_width=${(i % 480) + 1}`, { token: guest })
      count((await ask(pathIn(text, 'live_snapshot'))).status)
    })
  },
  'the guest: images of every moment': async ({ ask, isOver, count, guest, sharedIds }) => {
    let i = 0
    const { text } = await ask(`/v1/shared-cameras/${sharedIds[0]}/recording/pictures/?max_width=320`, { token: guest })
    const path = pathIn(text, 'url')
    await many(12, isOver, async () => {
      const at = new Date(Date.now() - 2000 - ((i++ * 997) % 20_000)).toISOString()
      count((await ask(`${path}&at=${at}`)).status)
    })
  },
  'the guest: streams that are not read': async (attacker) => {
    const { ask, isOver, count, guest, sharedIds } = attacker
    const sockets: Socket[] = []
    let i = 0
    while (!isOver()) {
      const id = sharedIds[i++ % sharedIds.length]
      const { text } = await ask(`/v1/shared-cameras/${id}/`, { token: guest })
      const streams = /"url":"https:\/\/[^/]+([^"]+live\.(?:mp4|ts|mjpeg)[^"]*)"/g
      for (const [, path] of text.matchAll(streams)) {
        const socket = openTls(attacker)
        socket.once('close', () => count('closed'))
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
        socket.pause()
        sockets.push(socket)
        count('requested')
      }
      await sleep(sockets.length > 300 ? 1000 : 100)
    }
    for (const socket of sockets) socket.destroy()
  },
  'the guest: recorded streams': async ({ ask, isOver, count, guest, sharedIds }) => {
    await many(4, isOver, async (i) => {
      const [start, end] = [40_000 + (i % 50) * 1000, 2000].map((ms) => new Date(Date.now() - ms).toISOString())
      count(
        (
          await ask(
            `/v1/shared-cameras/${sharedIds[i % sharedIds.length]}/recording/stream/?start=${start}&end=${end}`,
            { token: guest },
          )
        ).status,
      )
    })
  },
  'the stranger: small answers not taken': (attacker) => stallHttp2(attacker, '/no-such-page', 20),
  'the stranger: pages not taken': (attacker) => stallHttp2(attacker, '/docs/', 10),
  'the stranger: connections, half requests, rows of requests': async (attacker) => {
    const { isOver, count } = attacker
    await many(40, isOver, async (i) => {
      const socket = openTls(attacker)
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      socket.pause()
      if (i % 3 === 0) socket.write('GET /docs/ HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(10))
      if (i % 3 === 1) socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000))
      if (i % 3 === 2) socket.write('POST /v1/cameras/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n{')
      await Promise.race([closed, sleep(5000)])
      count(socket.destroyed ? 'closed' : 'still open')
      socket.destroy()
    })
  },
}

function pathIn(text: string, key: string): string {
  const [, path = '/no-address'] = new RegExp(`"${key}":"https://[^/]+([^"]+)"`).exec(text) ?? []
  return path
}

/** Runs this many requests at a time. Each waits briefly after a refusal, as a long-running program would. */
async function many(atOnce: number, isOver: () => boolean, once: (i: number) => Promise<void>): Promise<void> {
  let i = 0
  const go = async () => {
    while (!isOver()) {
      const begunMs = performance.now()
      await once(i++).catch(() => {})
      if (performance.now() - begunMs < 5) await sleep(5)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, go))
}

function openTls(
  { url, ca, localAddress }: Pick<Attacker, 'url' | 'ca' | 'localAddress'>,
  protocol = 'http/1.1',
): Socket {
  const from = { host: '127.0.0.1', port: Number(new URL(url).port), localAddress }
  const socket = connectTls({ ...from, ca, servername: 'localhost', ALPNProtocols: [protocol] })
  return socket.on('error', () => {})
}

/** Connections with closed windows, each with as many pending responses as allowed. */
async function stallHttp2(attacker: Attacker, path: string, connections: number): Promise<void> {
  const { url, isOver, count } = attacker
  await many(connections, isOver, async () => {
    const session: ClientHttp2Session = connectHttp2(url, {
      createConnection: () => openTls(attacker, 'h2'),
      settings: { initialWindowSize: 0 },
    })
    session.on('error', () => {})
    const closed = new Promise<void>((resolve) => session.once('close', () => resolve()))
    await Promise.race([new Promise((resolve) => session.once('remoteSettings', resolve)), closed, sleep(5000)])
    for (let i = 0; i < 200 && !session.closed && !session.destroyed; i++) {
      const stream = session.request({ ':path': path, 'accept-encoding': 'identity' })
      stream.on('error', () => {})
      stream.once('response', () => count('answered'))
      stream.once('close', () => count(stream.rstCode === 7 ? 'refused' : 'cut off'))
    }
    const ended = sleep(20_000)
    while (!isOver() && !session.destroyed && (await Promise.race([ended.then(() => false), sleep(200, true)]))) {}
    session.destroy()
  })
}

function createAsk({ url, ca, localAddress }: Pick<Attacker, 'url' | 'ca' | 'localAddress'>): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: 16, ca, localAddress })
  return (path, { method = 'GET', body, form, token } = {}) =>
    new Promise((resolve, reject) => {
      const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
      const headers = {
        ...(token && { authorization: `PersonalAccessToken ${token}` }),
        ...((body ?? form) && { 'content-type': type }),
      }
      const sent = request(new URL(path, url), { agent, method, headers }, (answer) => {
        let text = ''
        answer.on('data', (chunk: Buffer) => {
          if (text.length < keptText) text += chunk.toString('latin1')
        })
        answer.once('end', () => resolve({ status: answer.statusCode!, text }))
        answer.once('error', reject)
      })
      sent.setTimeout(30_000, () => sent.destroy(new Error('no answer')))
      sent.once('error', reject)
      sent.end(form ? new URLSearchParams(form).toString() : body && JSON.stringify(body))
    })
}

if (parentPort) {
  const orders = workerData as CrowdOrders
  const endMs = performance.now() + orders.forMs
  const tally: { [attack: string]: { [answer: string]: number } } = {}
  await Promise.all(
    Object.entries(attacks).map(async ([name, run], i) => {
      const answers: { [answer: string]: number } = {}
      tally[name] = answers
      const localAddress = `127.0.0.${2 + i}`
      const attacker: Attacker = {
        ...{ ...orders, localAddress, ask: createAsk({ ...orders, localAddress }) },
        isOver: () => performance.now() > endMs,
        count: (answer) => {
          answers[answer] = (answers[answer] ?? 0) + 1
        },
      }
      await run(attacker).catch((error: Error) => attacker.count(error.message))
    }),
  )
  parentPort.postMessage(tally)
}
