// An HTTP camera for tests, which answers as the test says.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'

/** `paths`: what it was asked for so far. */
export async function openHttpCamera(answer: (response: ServerResponse) => void) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url!)
    response.on('error', () => {})
    answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}/live`,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
