// Who waits when somebody asks without end, over real sockets.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import { type TestContext, test } from 'node:test'
import { openTemporaryApi } from '../../../test/support/api/temporary-api.ts'
import type { ApiDeps } from '../deps.ts'

const any = { max: 10_000, maxOfOne: 10_000 }

async function listen(t: TestContext, parts: Partial<ApiDeps> = {}) {
  const temporary = await openTemporaryApi(t, parts)
  const port = await temporary.api.listen({ host: '127.0.0.1', port: 0 })
  const { authorization } = await temporary.addUser('ada@example.com')
  const trust = { ca: temporary.identity.cert, host: '127.0.0.1', port }
  const openAgent = () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    return agent
  }
  const get = async (path: string, agent: https.Agent, headers: Record<string, string> = {}) => {
    const request = https.get({ ...trust, path, agent, headers })
    const [answer] = await once(request, 'response')
    await once(answer.resume(), 'end')
    return answer.statusCode as number
  }
  const openSession = () => {
    const session = http2.connect(`https://localhost:${port}`, { ca: trust.ca, settings: { initialWindowSize: 0 } })
    session.on('error', () => {})
    t.after(() => session.destroy())
    return session
  }
  return { get, openAgent, openSession, headers: { authorization } }
}

/** More than a connection may be refused before it waits. */
const many = 110

test('T32: a connection that is refused again and again waits; others at its address do not', async (t) => {
  const { get, openAgent, headers } = await listen(t)
  const [attacker, honest] = [openAgent(), openAgent()]
  for (let i = 0; i < many; i++) assert.equal(await get('/nothing', attacker), 404)
  const order: string[] = []
  const begunMs = performance.now()
  const refused = (async () => {
    for (let i = 0; i < 3; i++) await get('/nothing', attacker)
    order.push('attacker')
  })()
  for (let i = 0; i < 3; i++) assert.equal(await get('/v1/me/', honest, headers), 200)
  order.push('honest')
  await refused
  assert.deepEqual(order, ['honest', 'attacker'])
  assert.ok(performance.now() - begunMs > 200)
})

test('T33: a connection of HTTP/2 that wants more streams than it may have gets one at a time for a while', async (t) => {
  const streams = { max: 20, maxOfOne: 10 }
  const { openSession } = await listen(t, { clientLimits: { connections: any, streams, unsentBytes: any } })
  const session = openSession()
  const limits: (number | undefined)[] = []
  session.on('remoteSettings', ({ maxConcurrentStreams }) => limits.push(maxConcurrentStreams))
  await once(session, 'remoteSettings')
  const asked = Array.from({ length: 50 }, () => {
    const stream = session.request({ ':path': '/docs/' }).on('error', () => {})
    return new Promise<string>((resolve) => {
      stream.once('response', () => resolve('answered')).once('close', () => resolve('refused'))
    })
  })
  const answers = await Promise.all(asked)
  assert.equal(answers.filter((answer) => answer === 'answered').length, 10)
  await once(session, 'remoteSettings')
  assert.deepEqual(limits, [200, 1, 200])
})

test('T33: requests of HTTP/2 that are refused again and again wait too', async (t) => {
  const { openSession } = await listen(t)
  const session = openSession()
  const fail = async () => {
    const stream = session.request({ ':method': 'HEAD', ':path': '/nothing' })
    await once(stream, 'response')
    stream.resume()
    await once(stream, 'close')
  }
  for (let i = 0; i < many; i++) await fail()
  const begunMs = performance.now()
  for (let i = 0; i < 3; i++) await fail()
  assert.ok(performance.now() - begunMs > 400)
})
