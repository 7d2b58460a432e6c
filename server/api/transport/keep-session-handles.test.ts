import { once } from 'node:events'
import type { Http2ServerRequest } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  flags,
  frameTypes,
  preface,
  write32,
  writeFields,
  writeFrame,
  writeSettings,
} from '../../../test/attacks/http2-frames.ts'
import { openTemporaryApi } from '../../../test/support/api/temporary-api.ts'
import { until } from '../../../test/support/until.ts'
import { createSecureServer } from './secure-server.ts'
import { defaultTimeouts } from './timeouts.ts'

test('a trailer that never ends, in a stream that is destroyed while it is written, does not end the process', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { identity } = await openTemporaryApi(t)
  const body = Buffer.alloc(8e6)
  let destroyed = 0
  const server = createSecureServer(
    (request, response) => {
      response.end(body)
      const { session } = (request as unknown as Http2ServerRequest).stream
      setTimeout(() => {
        destroyed++
        session?.destroy()
      }, 40)
    },
    identity,
    defaultTimeouts,
  )
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const { headers, windowUpdate } = frameTypes
  const head = writeFields([
    [':method', 'POST'],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', '/'],
  ])
  const sent = Buffer.concat([
    preface,
    writeSettings([[4, 0x7fffffff]]),
    writeFrame(windowUpdate, 0, 0, write32(0x7fff0000 - 65_535)),
    writeFrame(headers, flags.endHeaders, 1, head),
    // Half of a trailer, together with the head: once the answer is on its way nothing more is read.
    writeFrame(headers, flags.endStream, 1, writeFields([['trailer', 'x'.repeat(200)]])),
  ])
  for (let i = 0; i < 30; i++) {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    socket.pause()
    socket.write(sent)
    await sleep(70)
    socket.destroy()
    if (i % 5 !== 4) continue
    await sleep(20)
    collect()
  }
  await until(() => {
    collect()
    return destroyed === 30
  })
})
