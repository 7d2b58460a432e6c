// npm run demo: the server with two sample cameras, a dashboard to sign in to, and four requests to copy.
//
// The cameras are our own fake camera in a process of its own; the server, the accounts and the recordings are the real thing, in
// a temporary folder that goes with it, or one that --data names and that stays.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { endWithVariable, watchParent } from '../server/commands/parent-watch.ts'

const help = `npm run demo -- [--port N] [--data DIR] [--json]

Starts Nightjar with two sample cameras and prints how to talk to it.
  --port N    port of the server (default 8443; 0 takes any free one)
  --data DIR  keep everything in this folder (default: a temporary folder, removed at the end)
  --json      print one line {"url", "token", "cameras", "ca"} once footage can be played, and nothing else`

const program = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const children: ChildProcess[] = []

async function main() {
  const values = readOptions()
  if (values.help) return console.log(help)
  const say = values.json ? () => {} : (text: string) => console.log(text)
  const dataDir = values.data ?? mkdtempSync(join(tmpdir(), 'nightjar-demo-'))
  if (values.data === undefined) process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  const command: Command = async <T>(args: readonly string[], input = ''): Promise<T> => {
    const words = [program('server/commands/nightjar.ts'), ...args, '--data', dataDir, '--json']
    const running = promisify(execFile)(process.execPath, [...process.execArgv, ...words])
    running.child.stdin!.end(input)
    const { stdout } = await running.catch(({ stderr }: { stderr: string }) => {
      throw new Error(stderr.trim())
    })
    return JSON.parse(stdout) as T
  }

  say('Starting two sample cameras …')
  const sample = await start<{ streams: Record<string, string> }>(
    'test/fake-camera/main.ts',
    '--streams',
    'yard,door',
    '--json',
  )
  say('Starting Nightjar …')
  const server = await start<{ url: string; ca: string }>(
    'server/commands/nightjar.ts',
    ...['serve', '--data', dataDir, '--port', values.port, '--allow-loopback-cameras', '--log-level', 'warn', '--json'],
  )
  const ca = await readFile(server.ca, 'utf8')
  const { api, token, password, cameras } = await prepareAccount(
    command,
    sample.streams,
    (token) => new Api(server.url, ca, token),
  )
  say('Waiting for the first footage …')
  const startedMs = await api.waitForFootage(cameras, Date.now() - 1000)
  if (values.json) console.log(JSON.stringify({ url: server.url, token, cameras, ca: server.ca }))
  const kept = values.data === undefined ? `${dataDir}, removed at the end (--data keeps another)` : dataDir
  if (!values.json) say(instructions({ ...server, token, password, cameras, startedMs, kept }))
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '8443' },
        data: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    return values
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`)
    process.exit(2)
  }
}

/** Starts one of our programs; the JSON of its first line. Both end together with the demo. */
async function start<T>(path: string, ...args: string[]): Promise<T> {
  const child = spawn(process.execPath, [...process.execArgv, program(path), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, [endWithVariable]: String(process.pid) },
  })
  children.push(child)
  child.on('exit', (code) => stop(code ?? 1))
  const [line] = await once(createInterface(child.stdout), 'line')
  const answer = JSON.parse(line) as T | { error: object }
  if (!('error' in (answer as object))) return answer as T
  // It has said why; its end ends the demo.
  return new Promise(() => {})
}

let isStopping = false
async function stop(code: number) {
  if (isStopping) return
  isStopping = true
  const running = children.filter((child) => child.exitCode === null && child.signalCode === null)
  for (const child of running) child.kill('SIGTERM')
  await Promise.all(running.map((child) => once(child, 'exit')))
  process.exit(code)
}

/** `input`: a secret, which must not be an argument. */
type Command = <T>(args: readonly string[], input?: string) => Promise<T>
type User = { id: number; email: string }
type Camera = { id: number; owner_id: number; name: string }

/** The demo's owner, a token and the two cameras; found again, with their footage, when the folder was kept. */
async function prepareAccount(
  command: Command,
  urls: Record<string, string>,
  openApi: (token: string) => Api,
): Promise<{ api: Api; token: string; password: string; cameras: number[] }> {
  // Others in the network reach the server too: nobody else is to know it.
  const password = randomBytes(9).toString('base64url')
  const { users } = await command<{ users: User[] }>(['user', 'list'])
  const person = ['--password-stdin', '--first-name', 'Dana', '--last-name', 'Demo']
  const known = users.find((user) => user.email === email)
  if (known) await command(['user', 'passwd', email, '--password-stdin'], password)
  const owner = known ?? (await command<User>(['user', 'add', '--email', email, ...person], password))
  const { token } = await command<{ token: string }>(['token', 'create', '--user', email, '--name', 'demo'])
  const api = openApi(token)
  const { cameras: all } = await command<{ cameras: Camera[] }>(['camera', 'list'])
  const cameras: number[] = []
  for (const [index, stream] of ['yard', 'door'].entries()) {
    const name = names[index]!
    const url = urls[stream]!
    const kept = all.find((camera) => camera.owner_id === owner.id && camera.name === name)
    // The sample cameras have a new port each time.
    if (kept) await api.request('PUT', `/v1/cameras/${kept.id}/`, { url })
    const added = ['camera', 'add', '--user', email, '--name', name, '--url', url, '--record', 'P1D']
    cameras.push(kept?.id ?? (await command<Camera>(added)).id)
  }
  return { api, token, password, cameras }
}

const email = 'demo@example.com'
const names = ['Yard', 'Door']

class Api {
  readonly #url: string
  readonly #ca: string
  readonly #token: string

  constructor(url: string, ca: string, token: string) {
    this.#url = url
    this.#ca = ca
    this.#token = token
  }

  /** Resolves when each camera has footage newer than `sinceMs`; a moment that all of them have, Unix milliseconds. */
  async waitForFootage(cameras: readonly number[], sinceMs: number): Promise<number> {
    const deadlineMs = performance.now() + 60_000
    let startedMs = sinceMs
    for (const id of cameras) {
      while (true) {
        const { recording_start, recording_end } = await this.request<Recording>('GET', `/v1/cameras/${id}/recording/`)
        if (recording_start !== null && Date.parse(recording_end!) > sinceMs) {
          startedMs = Math.max(startedMs, Date.parse(recording_start))
          break
        }
        if (performance.now() > deadlineMs) throw new Error(`camera ${id} has no footage after a minute`)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
    return startedMs
  }

  request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const headers = { authorization: `PersonalAccessToken ${this.#token}`, 'content-type': 'application/json' }
    const options = { method, ca: this.#ca, headers, agent: false }
    const outgoing = httpsRequest(new URL(path, this.#url), options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text) as T)
        else reject(new Error(`${method} ${path}: ${text}`))
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }
}

type Recording = { recording_start: string | null; recording_end: string | null }
type Running = {
  url: string
  token: string
  password: string
  ca: string
  cameras: number[]
  startedMs: number
  /** The data folder, and what becomes of it. */
  kept: string
}

function instructions({ url, token, password, ca, cameras, startedMs, kept }: Running): string {
  const time = (ms: number) => new Date(ms).toISOString().replace(/\.\d+/, '')
  const id = cameras[0]!
  const caPath = relative(process.cwd(), ca).startsWith('..') ? ca : relative(process.cwd(), ca)
  const curl = (path: string) =>
    `  curl --cacert ${caPath} -H 'Authorization: PersonalAccessToken ${token}' '${url}${path}'`
  const hour = `start=${time(startedMs - 60_000)}&end=${time(startedMs + 3600_000)}`
  return `
Nightjar is at ${url}
Open it in a browser (the certificate is self-signed, so it asks once) and sign in:

  Email     ${email}
  Password  ${password}

Data: ${kept}
Personal access token for programs: ${token}

Who am I, the cameras (with live view addresses), the timeline, and a recorded stream from its beginning:

${curl('/v1/me/')}
${curl('/v1/cameras/')}
${curl(`/v1/cameras/${id}/recording/timeline/?${hour}`)}
${curl(`/v1/cameras/${id}/recording/stream/?start=${time(startedMs)}`)}

Any address in the answers opens in a player or a browser as it is. Ctrl-C ends the demo.`
}

if (!existsSync(program('server/commands/nightjar.ts'))) throw new Error('run the demo from a checkout')
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => void stop(0))
watchParent(() => void stop(0))
main().catch((error) => {
  // Ctrl-C before all is up: what it interrupted is no fault.
  if (isStopping) return
  console.error(`The demo could not start: ${error instanceof Error ? error.message : error}`)
  void stop(1)
})
