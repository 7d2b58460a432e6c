// An account requests its long list with ever-changing parameters; the server's cache of responses must not fill its
// memory.

import assert from 'node:assert/strict'
import { Agent, request } from 'node:https'
import { test } from 'node:test'
import { openServerWith, type ServerUnderTest } from '../server-under-test.ts'

const cameras = 300
const lists = 220

/** Sends requests over persistent connections and returns the status, or the body on request. */
function createAsk(server: ServerUnderTest, agent: Agent) {
  return (path: string, body?: object): Promise<{ status: number; bytes: number }> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `PersonalAccessToken ${server.token}`, 'content-type': 'application/json' }
      const sent = request(
        new URL(path, server.url),
        { agent, ca: server.ca, headers, method: body ? 'POST' : 'GET' },
        (answer) => {
          let bytes = 0
          answer.on('data', (chunk: Buffer) => {
            bytes += chunk.length
          })
          answer.once('end', () => resolve({ status: answer.statusCode!, bytes }))
          answer.once('error', reject)
        },
      )
      sent.once('error', reject)
      sent.end(body && JSON.stringify(body))
    })
}

const ways: readonly ((i: number) => string)[] = [
  (i) => `_=${i}`, // means nothing
  (i) => `max_width=${i + 1}`,
]

test('listing many cameras with ever-changing parameters does not increase memory use', async () => {
  await using server = await openServerWith({ NODE_OPTIONS: '--max-old-space-size=96' }, '--rate-limit', '0')
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const ask = createAsk(server, agent)
  try {
    for (let i = 0; i < cameras; i++) {
      const camera = { name: `Camera ${i}`, type: 'h264', url: 'rtsp://127.0.0.1:9/' }
      assert.equal((await ask('/v1/cameras/', camera)).status, 201)
    }
    let bytes = 0
    for (const way of ways) {
      let next = 0
      const askOn = async () => {
        for (let i = next++; i < lists; i = next++) {
          const answer = await ask(`/v1/cameras/?limit=1000&${way(i)}`)
          assert.equal(answer.status, 200)
          bytes += answer.bytes
        }
      }
      await Promise.all([askOn(), askOn(), askOn(), askOn()])
    }
    assert.ok(bytes > 110e6, `as many answers as would fill the memory: ${bytes} bytes`)
    assert.equal((await ask('/v1/me/')).status, 200)
  } catch (error) {
    assert.doesNotMatch(server.log(), /heap limit/, 'the server ran out of memory')
    throw error
  } finally {
    agent.destroy()
  }
})
