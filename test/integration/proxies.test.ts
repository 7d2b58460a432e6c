// nginx, HAProxy and Caddy in front of a server, as the documentation configures them, and with their defaults.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import http2 from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openOwnIdentity } from '../../server/api/transport/certificate.ts'
import { systemClock } from '../../server/base/clock.ts'
import { openFakeCamera } from '../fake-camera/fake-camera.ts'
import { eventually, openServer } from '../server-under-test.ts'
import { findOwnPort } from '../support/own-port.ts'

/** The blocks of code of docs/operating/network.md, by the word that each is found by. */
const examples = (await readFile(new URL('../../docs/operating/network.md', import.meta.url), 'utf8'))
  .split('```')
  .filter((_, i) => i % 2 === 1)
  .map((block) => block.slice(block.indexOf('\n') + 1))

const findExample = (word: string): string => examples.find((block) => block.includes(word))!

type Places = {
  readonly folder: string
  readonly port: number
  readonly plainPort: number
  readonly serverPort: number
}

type Proxy = {
  /** With the example, or with what the program does by itself. */
  readonly write: (example: string | undefined, places: Places) => string
  readonly word: string
  readonly run: (file: string, folder: string) => readonly string[]
  /** Without any setting, requests are passed on as they should be. */
  readonly isReady?: true
}

const fit = (text: string, { folder, port, plainPort, serverPort }: Places): string =>
  text
    .replaceAll('cameras.example.org', 'localhost')
    .replaceAll('127.0.0.1:8443', `127.0.0.1:${serverPort}`)
    .replaceAll('/etc/nginx/', `${folder}/`)
    .replaceAll('/etc/haproxy/cameras.pem', `${folder}/both.pem`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace('listen 80', `listen 127.0.0.1:${plainPort}`)
    .replace('bind :80', `bind 127.0.0.1:${plainPort}`)

const proxies: Readonly<Record<string, Proxy>> = {
  nginx: {
    word: 'proxy_pass',
    write: (example, places) => {
      const { folder, port, serverPort } = places
      const plain = `server { listen 127.0.0.1:${port} ssl; ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
        location / { proxy_pass http://127.0.0.1:${serverPort}; } }`
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/${name};`)
        .join(' ')
      return `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr; events {}
        http { access_log off; ${temporary} ${example ? fit(example, places) : plain} }`
    },
    run: (file, folder) => ['nginx', '-p', folder, '-c', file],
  },
  haproxy: {
    word: 'frontend https',
    write: (example, places) => {
      const { folder, port, serverPort } = places
      const plain = `frontend https\n  mode http\n  bind 127.0.0.1:${port} ssl crt ${folder}/both.pem\n  default_backend nightjar
backend nightjar\n  mode http\n  server one 127.0.0.1:${serverPort}\n`
      return `defaults\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n${example ? fit(example, places) : plain}`
    },
    run: (file) => ['haproxy', '-db', '-f', file],
  },
  caddy: {
    word: 'reverse_proxy',
    isReady: true,
    write: (example, places) => {
      const own = fit(example!, places)
        .replace('localhost {', `https://localhost:${places.port} {`)
        .replace('{\n', `{\n  tls ${places.folder}/cert.pem ${places.folder}/key.pem\n`)
      return `{\n  admin off\n  auto_https disable_redirects\n}\n${own}`
    },
    run: (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  },
}

async function openScene(t: TestContext, { word, write, run }: Proxy, isExample: boolean) {
  const folder = await mkdtemp(join(tmpdir(), 'nightjar-proxy-'))
  const { cert, key } = await openOwnIdentity({ dataDir: join(folder, 'made'), hosts: [], clock: systemClock })
  for (const [name, text] of [
    ['cert.pem', cert],
    ['key.pem', key],
    ['both.pem', `${cert}\n${key}`],
  ] as const)
    await writeFile(join(folder, name), text)
  await mkdir(join(folder, 'home'))
  const [port = 0, plainPort = 0, serverPort = 0] = await Promise.all([1, 2, 3].map(() => findOwnPort()))
  const file = join(folder, 'config')
  await writeFile(file, write(isExample ? findExample(word) : undefined, { folder, port, plainPort, serverPort }))
  const source = await openFakeCamera({
    streams: [{ name: 'yard', width: 320, height: 180, framesPerSecond: 10, gopFrames: 2, loopSeconds: 4 }],
  })
  const own = ['--behind-proxy', '--public-url', `https://localhost:${port}`, '--port', String(serverPort)]
  const server = await openServer(...own, '--rate-limit', '0')
  const [program, ...args] = run(file, folder)
  const lines: string[] = []
  const child: ChildProcess = spawn(program!, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      HOME: join(folder, 'home'),
      XDG_DATA_HOME: join(folder, 'home'),
      XDG_CONFIG_HOME: join(folder, 'home'),
    },
  })
  child.stderr!.on('data', (chunk) => lines.push(String(chunk)))
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca: cert })
  t.after(async () => {
    agent.destroy()
    const ended = child.exitCode === null && once(child, 'exit')
    child.kill('SIGTERM')
    await ended
    await server[Symbol.asyncDispose]()
    await source[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })
  const authorization = `PersonalAccessToken ${server.token}`
  const ask = async (path: string) => {
    const outgoing = httpsRequest({ host: 'localhost', family: 4, port, path, agent, headers: { authorization } }).end()
    const [response] = await once(outgoing, 'response')
    let text = ''
    for await (const chunk of response) text += chunk
    return { status: response.statusCode as number, text }
  }
  await eventually(`${program} listens`, 20_000, async () => {
    assert.equal(child.exitCode, null, `${program} ended: ${lines.join('')}`)
    return ask('/healthz').then(Boolean, () => false)
  })
  return { server, source, port, plainPort, cert, authorization, ask }
}

suite('behind a proxy', { concurrency: true }, () => {
  for (const [name, proxy] of Object.entries(proxies)) {
    test(`${name}, as the documentation configures it, passes everything on at once and loses no request`, async (t) => {
      const { server, source, port, plainPort, cert, authorization, ask } = await openScene(t, proxy, true)
      const id = await server.addCamera('Yard', source.url('yard'))
      assert.equal((await ask('/v1/me/')).status, 200)
      const camera = await eventually('the camera is online', 30_000, async () => {
        const found = JSON.parse((await ask(`/v1/cameras/${id}/`)).text)
        return found.status === 'online' && found
      })
      assert.ok(camera.live_snapshot.startsWith(`https://localhost:${port}/`))

      const session = http2.connect(`https://localhost:${port}`, {
        ca: cert,
        family: 4,
      } as http2.SecureClientSessionOptions)
      const streams: { streams: { format: string; url: string }[] } = camera
      const { pathname, search } = new URL(streams.streams.find(({ format }) => format === 'mjpeg')!.url)
      const live = session.request({ ':path': pathname + search, authorization })
      const arrivals: number[] = []
      live.on('data', () => arrivals.push(performance.now()))
      // Buffered, it would arrive in lumps, or never. A busy machine may do so for a while.
      await eventually('images in six of eight half-seconds', 20_000, async () => {
        const sinceMs = performance.now() - 4000
        return new Set(arrivals.map((ms) => Math.floor((ms - sinceMs) / 500)).filter((part) => part >= 0)).size >= 6
      })
      live.close()
      session.close()

      // The server would close idle connections of others after 16 s.
      const failed: number[] = []
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(Array.from({ length: 8 }, () => ask('/v1/me/')))
        failed.push(...answers.map(({ status }) => status).filter((status) => status !== 200))
        await sleep(round === 0 ? 15_950 : 1000)
      }
      assert.deepEqual(failed, [])

      // Browsers are led to HTTPS, and programs fail. Caddy does that by itself, which the test has switched off.
      if (name === 'caddy') return
      const plain = async (path: string) => {
        const { status, headers } = await fetch(`http://localhost:${plainPort}${path}`, { redirect: 'manual' })
        // HAProxy keeps the port of the request, which is 80 where browsers use it.
        return [status, headers.get('location')?.replace(`:${plainPort}`, '') ?? null]
      }
      assert.deepEqual(await plain('/cameras/1?at=2026-07-01'), [301, 'https://localhost/cameras/1?at=2026-07-01'])
      for (const path of ['/v1/me/', '/oauth/token/', '/media/cameras/1/live.mp4'])
        assert.deepEqual(await plain(path), [403, null], path)
    })

    if (proxy.isReady) continue
    test(`${name} without any setting is refused, and the answer says what it must send`, async (t) => {
      const { ask } = await openScene(t, proxy, false)
      const { status, text } = await ask('/v1/me/')
      const { title, detail } = JSON.parse(text)
      assert.deepEqual([status, title], [403, 'https_required'])
      assert.match(detail, /The proxy does not say .* it must send the header X-Forwarded-Proto/)
    })
  }
})
