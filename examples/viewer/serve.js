// A web application of somebody else's: this small server hands out its page; all the rest happens between the browser and Nightjar.
//
//   npm run sdk && npm install --prefix examples      once: the SDK and hls.js, for the examples
//   ./nightjar app add --user you@example.com --name 'Porch viewer' --public --redirect-uris http://127.0.0.1:8080/
//   node examples/viewer/serve.js --server https://localhost:8443 --client-id CLIENT_ID
//
// and open http://127.0.0.1:8080/. While the server has a certificate of its own, open its address once in the same browser and accept it.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const usage = 'usage: node serve.js --server https://… --client-id ID [--port 8080]'
const options = readOptions()

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
}

/** The page, and the two packages as browsers read them (index.html says which is which). */
const sdk = new URL('.', import.meta.resolve('nightjar-sdk'))
const hls = new URL('hls.min.mjs', import.meta.resolve('hls.js'))

function findFile(path) {
  if (path === '/') return new URL('index.html', import.meta.url)
  if (path === '/modules/hls.js') return hls
  const [, module] = /^\/modules\/nightjar-sdk\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(path) ?? []
  if (module) return new URL(module, sdk)
  if (/^\/[\w-]+\.(js|css)$/.test(path) && path !== '/serve.js') return new URL(`.${path}`, import.meta.url)
  return undefined
}

const server = createServer(async (request, response) => {
  const path = request.url.split('?', 1)[0]
  const headers = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' }
  if (path === '/application.json') {
    const application = { baseUrl: options.server, clientId: options.clientId }
    response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(application))
    return
  }
  const file = findFile(path)
  const isThere =
    file &&
    (await stat(file).then(
      (found) => found.isFile(),
      () => false,
    ))
  if (!isThere) return response.writeHead(404, headers).end()
  response.writeHead(200, { ...headers, 'content-type': types[extname(fileURLToPath(file))] })
  createReadStream(file).pipe(response)
})

server.on('error', (error) => fail(`cannot listen on port ${options.port}: ${error.message}`))
server.listen(options.port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`))

function readOptions() {
  try {
    const text = { type: 'string' }
    const { values } = parseArgs({ options: { server: text, 'client-id': text, port: { ...text, default: '8080' } } })
    const port = Number(values.port)
    if (!values.server || !values['client-id'] || !(port >= 0 && port < 65_536)) return fail(usage)
    return { server: new URL(values.server).origin, clientId: values['client-id'], port }
  } catch (error) {
    return fail(`${error.message}\n${usage}`)
  }
}

function fail(message) {
  console.error(message)
  process.exit(2)
}
